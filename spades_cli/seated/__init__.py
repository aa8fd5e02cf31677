"""A person at the table: what she reads and answers, for `spades play`. Everything shown comes from her `View`."""

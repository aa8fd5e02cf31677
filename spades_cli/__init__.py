"""The `spades` command: one file a subcommand, each imported only when it is invoked."""

__spades_env__ = True

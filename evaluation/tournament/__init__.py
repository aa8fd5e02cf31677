"""Round-robin tournaments: every pair of agents on the same duplicate deals, ratings with uncertainty, a cross-table.

`config` says who plays what, `contests` and `seats` make jobs of it, `schedule` says which pair plays next, `run` plays
and keeps, `strength` and `rating` draw the conclusions, `table` puts them into plain values and `page` into a page.
"""

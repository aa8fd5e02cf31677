"""Round-robin tournaments: every pair of agents on the same duplicate deals, ratings with uncertainty, a cross-table.

`config` says who plays what, `schedule` which pair plays next, `games` plays, `store` keeps, `strength` and `rating`
draw the conclusions, `table` puts them into plain values and `page` into a page.
"""

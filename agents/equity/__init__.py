"""Match equity: the chance to win the match from scores, bags and dealer. `equity_table(rules)` makes a table of it.

`lookup` has the kernel that other kernels call, `table` what Python calls; docs/equity.md says how it is reckoned.
"""

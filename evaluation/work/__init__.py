"""Games as work: what is to be played (`job`), a part of it played (`part`), who plays parts (`crew`, `processes`),
how the games are cut into parts and collected (`run`), and parts kept in a folder (`definition`, `store`).

Whoever hands parts out in another way, to other machines say, writes another `Crew` and nothing else.
"""

"""Games as work: what is to be played (`job`), a part of it played (`part`), who plays parts (`crew`, `together`),
how the games are cut into parts and collected (`run`), and parts kept in a folder (`definition`, `store`).

Workers are processes of this machine (`processes`) or actors of a Ray cluster (`actors`, `cluster`, `origin`), as
`backend` says; whoever wants others writes another `backend.Workers` and nothing else.
"""

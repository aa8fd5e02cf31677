"""The exact endgame solver: best play with all cards seen, for the real payoff of a deal."""

"""Spades as a game of OpenSpiel, called `spades_env`: importing this registers it (extra `peers`; docs/wrappers.md).

`table` is what the parameters mean, `dealing` is chance, `game` the game and its states, `observer` what a player is
shown.
"""

from spades_env.envs.openspiel.game import GAME_NAME, SpadesGame, SpadesState

__all__ = ["GAME_NAME", "SpadesGame", "SpadesState"]

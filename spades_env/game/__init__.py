"""One game as Python objects over the kernels: `Game` knows everything, `View` what one seat knows."""

from spades_env.game.facts import TeamResult
from spades_env.game.game import Game
from spades_env.game.known import View
from spades_env.game.position import PositionError
from spades_env.game.storage import StorageError

__all__ = ["Game", "PositionError", "StorageError", "TeamResult", "View"]

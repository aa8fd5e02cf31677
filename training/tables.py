"""The tables of a run: who sits where in its deals, as the configuration says."""

from __future__ import annotations

from agents.registry import load_agent
from training.config import TrainingConfig
from training.line_ups import PoolVecEnv, ResponderVecEnv
from training.match import MatchStakes
from training.seats import SeatVecEnv


def make_table(config: TrainingConfig, games: int) -> SeatVecEnv:
    """`games` deals to learn from: all seats the policy's, some with a pool's agents, or one team's against another."""
    own = config.rule_set(), games, config.seed, config.bag_price
    copies = config.ppo.copies
    match = MatchStakes(config.rule_set(), config.match.share, config.seed) if config.match else None
    if config.opponent is not None:
        return ResponderVecEnv(*own, load_agent(config.opponent), copies=copies, match=match)
    if config.pool is not None:
        agents = [load_agent(name) for name in config.pool.agents]
        return PoolVecEnv(*own, agents, config.pool, copies=copies, match=match)
    return SeatVecEnv(*own, copies=copies, match=match)

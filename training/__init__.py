"""Self-play training: configuration, whole-deal collection, PPO with per-seat trajectories, checkpoints, reports."""

__spades_env__ = True

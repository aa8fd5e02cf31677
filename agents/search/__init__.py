"""Agents that look ahead: sampled worlds, exact endings, searchers; all on the engine's own rules."""

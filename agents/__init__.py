"""Agents: whatever picks an action from what a seat may know; `agents.registry.load_agent` makes them."""

__spades_env__ = True

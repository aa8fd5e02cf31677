"""Agents that are programs of their own, in any language (docs/external_agents.md)."""

from agents.process.agent import ProcessAgent as ProcessAgent

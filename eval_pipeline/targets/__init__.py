"""Targets: one file an agent, each the shortest way from an example's inputs to the agent's real graph."""

"""Evaluators: one file an agent, with the static rules that only this agent has."""

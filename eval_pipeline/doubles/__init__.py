"""Doubles of storage ports: the only things that may stand in for something of an agent."""

"""The agents: each a compiled LangGraph graph and the reasoning behind it."""

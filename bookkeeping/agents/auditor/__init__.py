"""The Auditor: reads a book, verifies its hash chain, runs the checks, and says what it found and what it cannot know.

Importing this package is cheap; LangGraph and the database driver are imported when the graph is built.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookkeeping.agents.auditor.graph import build_graph

NAME = "auditor"
REASONING = ("bookkeeping.agents.auditor", "bookkeeping.ledger")
"""Packages that hold the reasoning; the harness attests them."""

__all__ = ["NAME", "REASONING", "build_graph"]


def __getattr__(name: str) -> Any:
    if name == "build_graph":
        from bookkeeping.agents.auditor.graph import build_graph

        return build_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The Bookkeeper: turns one record into ledger lines, or says why it does not.

Importing this package is cheap; LangGraph and the ledger are imported when the graph is built.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookkeeping.agents.bookkeeper.graph import build_graph

NAME = "bookkeeper"
REASONING = ("bookkeeping.agents.bookkeeper", "bookkeeping.ledger", "bookkeeping.documents", "bookkeeping.models")
"""Packages that hold the reasoning; the harness attests them."""

__all__ = ["NAME", "REASONING", "build_graph"]


def __getattr__(name: str) -> Any:
    if name == "build_graph":
        from bookkeeping.agents.bookkeeper.graph import build_graph

        return build_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The Clerk: takes submissions in under the rules of governance, and answers questions about the books.

Importing this package is cheap; LangGraph and the catalogue are imported when the graph is built.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookkeeping.agents.clerk.graph import build_graph

NAME = "clerk"
REASONING = (
    "bookkeeping.agents.clerk",
    "bookkeeping.agents.typewriter",
    "bookkeeping.documents",
    "bookkeeping.intake",
    "bookkeeping.models",
)
"""Packages that hold the reasoning; the harness attests them. The Typewriter's graph reads what nobody declared."""

__all__ = ["NAME", "REASONING", "build_graph"]


def __getattr__(name: str) -> Any:
    if name == "build_graph":
        from bookkeeping.agents.clerk.graph import build_graph

        return build_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The Typewriter: reads a document's text and proposes zero or more typed records.

Importing this package is cheap; LangGraph and the catalogue are imported when the graph is built.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bookkeeping.agents.typewriter.graph import build_graph

NAME = "typewriter"
REASONING = ("bookkeeping.agents.typewriter", "bookkeeping.documents", "bookkeeping.models")
"""Packages that hold the reasoning; the harness attests them."""

__all__ = ["NAME", "REASONING", "build_graph"]


def __getattr__(name: str) -> Any:
    if name == "build_graph":
        from bookkeeping.agents.typewriter.graph import build_graph

        return build_graph
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

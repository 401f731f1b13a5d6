"""The Bookkeeper's target: its compiled graph over a real ledger. Nothing is substituted.

Every attempt has a book of its own, dropped afterwards; what a killed run left is dropped when the next one opens.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bookkeeping.agents.bookkeeper.outputs import BookkeeperOutputs
from eval_pipeline.prerequisites import LEDGER
from eval_pipeline.target import Attempt, Outputs, RunContext, RunOne, Target
from eval_pipeline.trace import run_graph


@contextmanager
def open_bookkeeper(context: RunContext) -> Iterator[RunOne]:
    """Connects to the ledger and compiles the graph once for the run."""
    from bookkeeping.agents.bookkeeper.graph import BookkeeperContext, book_spec, build_graph
    from bookkeeping.ledger import Ledger

    graph = build_graph()
    with Ledger.connect(context.ledger_url or "") as ledger:
        ledger.drop_abandoned_books()

        def run_one(inputs: dict[str, Any], attempt: Attempt) -> Outputs:
            book = ledger.create_book(book_spec(inputs["book"], attempt.name, kind="eval"))
            try:
                outputs: Outputs = run_graph(graph, inputs, context=BookkeeperContext(book))
                return outputs
            finally:
                ledger.drop_book(book)

        yield run_one


TARGET = Target(
    agent="bookkeeper",
    outputs=BookkeeperOutputs,
    open=open_bookkeeper,
    requires=lambda _: (LEDGER,),
)

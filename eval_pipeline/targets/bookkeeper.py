"""The Bookkeeper's target: its compiled graph over a real ledger. Nothing is substituted.

Every attempt has a book of its own, dropped afterwards; what a killed run left is dropped when the next one opens.
Instructions in words need the model of the run; records need none.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from bookkeeping.agents.bookkeeper.outputs import BookkeeperOutputs
from eval_pipeline.model_calls import recorded_calls
from eval_pipeline.prerequisites import LEDGER, MODEL, one_at_a_time_in_process
from eval_pipeline.target import Attempt, Outputs, RunContext, RunOne, Target
from eval_pipeline.trace import run_graph


@contextmanager
def open_bookkeeper(context: RunContext) -> Iterator[RunOne]:
    """Connects to the ledger and compiles the graph once for the run."""
    from bookkeeping.agents.bookkeeper.graph import BookkeeperContext, book_spec, build_graph
    from bookkeeping.ledger import Ledger
    from bookkeeping.models import Model, require

    graph = build_graph()

    @cache
    def model() -> Model:
        return require(context.model, os.environ)

    with Ledger.connect(context.ledger_url or "") as ledger:
        ledger.drop_abandoned_books()

        def run_one(inputs: dict[str, Any], attempt: Attempt) -> Outputs:
            book = ledger.create_book(book_spec(inputs["book"], attempt.name, kind="eval"))
            try:
                reader = model() if "instruction" in inputs else None
                with recorded_calls():
                    outputs: Outputs = run_graph(graph, inputs, context=BookkeeperContext(book, reader))
                    return outputs
            finally:
                ledger.drop_book(book)

        yield run_one


TARGET = Target(
    agent="bookkeeper",
    outputs=BookkeeperOutputs,
    open=open_bookkeeper,
    requires=lambda inputs: (LEDGER, MODEL) if "instruction" in inputs else (LEDGER,),
    timeout_s=180.0,
    at_once=one_at_a_time_in_process,
)

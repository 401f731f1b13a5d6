"""The Typewriter's target: its compiled graph and the model of the run. Nothing is substituted, nothing is stored."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bookkeeping.agents.typewriter.outputs import TypewriterOutputs
from eval_pipeline.model_calls import recorded_calls
from eval_pipeline.prerequisites import MODEL, one_at_a_time_in_process
from eval_pipeline.target import Attempt, Outputs, RunContext, RunOne, Target
from eval_pipeline.trace import run_graph


@contextmanager
def open_typewriter(context: RunContext) -> Iterator[RunOne]:
    """Compiles the graph and makes the model once for the run."""
    from bookkeeping.agents.typewriter.graph import TypewriterContext, build_graph
    from bookkeeping.models import require

    graph = build_graph()
    model = require(context.model, os.environ)

    def run_one(inputs: dict[str, Any], _: Attempt) -> Outputs:
        with recorded_calls():
            outputs: Outputs = run_graph(graph, inputs, context=TypewriterContext(model))
            return outputs

    yield run_one


TARGET = Target(
    agent="typewriter",
    outputs=TypewriterOutputs,
    open=open_typewriter,
    requires=lambda _: (MODEL,),
    timeout_s=300.0,
    at_once=one_at_a_time_in_process,
)

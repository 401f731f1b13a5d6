"""The Clerk's target: its compiled graph, the model of the run where one is needed, and doubles of its two stores.

The queue and the file sink are all that is substituted: every attempt has empty ones of its own, in memory.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bookkeeping.agents.clerk.outputs import ClerkOutputs
from bookkeeping.intake.ports import FileSink, IntakeQueue
from eval_pipeline.doubles.clerk import MemoryQueue, MemorySink
from eval_pipeline.model_calls import recorded_calls
from eval_pipeline.prerequisites import MODEL, one_at_a_time_in_process
from eval_pipeline.target import Attempt, Inputs, Outputs, Prerequisite, RunContext, RunOne, Substitution, Target
from eval_pipeline.trace import run_graph


@contextmanager
def open_clerk(context: RunContext) -> Iterator[RunOne]:
    """Compiles the graph once for the run; makes the model when there is one."""
    from bookkeeping.agents.clerk.graph import ClerkContext, build_graph
    from bookkeeping.models import require, why_missing

    graph = build_graph()
    model = None if why_missing(context.model, os.environ) else require(context.model, os.environ)

    def run_one(inputs: dict[str, Any], _: Attempt) -> Outputs:
        with recorded_calls():
            outputs: Outputs = run_graph(graph, inputs, context=ClerkContext(MemoryQueue(), MemorySink(), model))
            return outputs

    yield run_one


def prerequisites(inputs: Inputs) -> tuple[Prerequisite, ...]:
    """A model, for the inputs that the graph itself would ask one for."""
    from bookkeeping.agents.clerk.needs import needs_model

    return (MODEL,) if needs_model(inputs) else ()


TARGET = Target(
    agent="clerk",
    outputs=ClerkOutputs,
    open=open_clerk,
    requires=prerequisites,
    substitutions=(Substitution(IntakeQueue, MemoryQueue), Substitution(FileSink, MemorySink)),
    timeout_s=300.0,
    at_once=one_at_a_time_in_process,
)

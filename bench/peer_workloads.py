"""The workload in the peers' own words. Run by a peer's own Python, so it imports nothing of this project.

    python peer_workloads.py NAME N

N examples, a target that returns at once, three exact comparisons for each. The time is that of the peer's own call to
evaluate; building the examples is not in it. A run counts only with 3 * N scores that are all 1.0. Prints JSON.
"""

import asyncio
import contextlib
import io
import json
import logging
import resource
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

KEYS = ("a", "b", "c")
CONCURRENCY = 16

Ran = tuple[float, list[float]]


def expected(i: int) -> dict[str, str]:
    return {key: f"{key}-{i}" for key in KEYS}


def answer(inputs: dict[str, Any]) -> dict[str, str]:
    return expected(inputs["i"])


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    value = call()
    return time.perf_counter() - start, value


def run_asyncio(n: int) -> Ran:
    """The floor: one task for each example under a semaphore, nothing kept."""

    async def main() -> list[float]:
        gate = asyncio.Semaphore(CONCURRENCY)

        async def one(i: int) -> list[float]:
            async with gate:
                out, want = answer({"i": i}), expected(i)
                return [float(out[key] == want[key]) for key in KEYS]

        return [score for row in await asyncio.gather(*(one(i) for i in range(n))) for score in row]

    return timed(lambda: asyncio.run(main()))


def run_pydantic_evals(n: int) -> Ran:
    evals, evaluators = import_module("pydantic_evals"), import_module("pydantic_evals.evaluators")

    def evaluator(key: str) -> Any:
        def evaluate(self: Any, ctx: Any) -> float:  # noqa: ARG001
            return float(ctx.output[key] == ctx.expected_output[key])

        return dataclass(type(f"Exact_{key}", (evaluators.Evaluator,), {"evaluate": evaluate}))

    cases = [evals.Case(name=str(i), inputs={"i": i}, expected_output=expected(i)) for i in range(n)]
    dataset = evals.Dataset(name="bench", cases=cases, evaluators=[evaluator(key)() for key in KEYS])

    async def target(inputs: dict[str, Any]) -> dict[str, str]:
        return answer(inputs)

    seconds, report = timed(lambda: dataset.evaluate_sync(target, progress=False, max_concurrency=CONCURRENCY))
    return seconds, [score.value for case in report.cases for score in case.scores.values()]


def _langsmith_parts(n: int) -> tuple[Any, list[Any], list[Any]]:
    langsmith, schemas = import_module("langsmith"), import_module("langsmith.schemas")
    # Never called: upload_results=False keeps everything local.
    client = langsmith.Client(api_url="http://127.0.0.1:9", api_key="none", auto_batch_tracing=False)
    dataset = uuid.uuid4()
    examples = [
        schemas.Example(id=uuid.uuid4(), dataset_id=dataset, inputs={"i": i}, outputs=expected(i)) for i in range(n)
    ]

    def evaluator(key: str) -> Any:
        def exact(outputs: dict[str, Any], reference_outputs: dict[str, Any]) -> dict[str, Any]:
            return {"key": key, "score": float(outputs[key] == reference_outputs[key])}

        exact.__name__ = f"exact_{key}"
        return exact

    return client, examples, [evaluator(key) for key in KEYS]


def _langsmith_scores(rows: list[Any]) -> list[float]:
    return [result.score for row in rows for result in row["evaluation_results"]["results"]]


def run_langsmith_threads(n: int) -> Ran:
    langsmith = import_module("langsmith")
    client, examples, evaluators = _langsmith_parts(n)
    options = {"client": client, "upload_results": False, "max_concurrency": CONCURRENCY}
    seconds, rows = timed(lambda: list(langsmith.evaluate(answer, data=examples, evaluators=evaluators, **options)))
    return seconds, _langsmith_scores(rows)


def run_langsmith_async(n: int) -> Ran:
    langsmith = import_module("langsmith")
    client, examples, evaluators = _langsmith_parts(n)
    options = {"client": client, "upload_results": False, "max_concurrency": CONCURRENCY}

    async def target(inputs: dict[str, Any]) -> dict[str, str]:
        return answer(inputs)

    async def main() -> list[Any]:
        results = await langsmith.aevaluate(target, data=examples, evaluators=evaluators, **options)
        return [row async for row in results]

    seconds, rows = timed(lambda: asyncio.run(main()))
    return seconds, _langsmith_scores(rows)


def run_inspect(n: int) -> Ran:
    inspect, scorers = import_module("inspect_ai"), import_module("inspect_ai.scorer")
    data, models, solvers = (import_module(f"inspect_ai.{name}") for name in ("dataset", "model", "solver"))

    def target() -> Any:
        async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001
            state.output = models.ModelOutput.from_content("none", json.dumps(answer(state.metadata)))
            return state

        return solve

    def exact(key: str) -> Any:
        def build() -> Any:
            async def score(state: Any, target: Any) -> Any:  # noqa: ARG001
                got = json.loads(state.output.completion)[key]
                return scorers.Score(value=float(got == state.metadata["want"][key]))

            return score

        return scorers.scorer(metrics=[scorers.mean()], name=f"exact_{key}")(build)()

    samples = [
        data.Sample(id=i + 1, input=str(i), target="-", metadata={"i": i, "want": expected(i)}) for i in range(n)
    ]
    solver = solvers.solver(target)()
    task = inspect.Task(dataset=data.MemoryDataset(samples), solver=solver, scorer=[exact(key) for key in KEYS])
    with tempfile.TemporaryDirectory() as logs:
        options = {"model": "mockllm/model", "display": "none", "log_dir": logs, "max_samples": CONCURRENCY}
        seconds, (log,) = timed(lambda: inspect.eval(task, **options))
        full = log if log.samples else import_module("inspect_ai.log").read_eval_log(log.location)
    return seconds, [score.value for sample in full.samples for score in sample.scores.values()]


WORKLOADS: dict[str, tuple[str, Callable[[int], Ran]]] = {
    "asyncio": ("asyncio", run_asyncio),
    "pydantic-evals": ("pydantic_evals", run_pydantic_evals),
    "langsmith-async": ("langsmith", run_langsmith_async),
    "langsmith-threads": ("langsmith", run_langsmith_threads),
    "inspect": ("inspect_ai", run_inspect),
}


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    name, n = sys.argv[1], int(sys.argv[2])
    module, run = WORKLOADS[name]
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    noise = io.StringIO()
    with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
        import_module(module)
        before = peak_kib()
        seconds, scores = run(n)
    if len(scores) != len(KEYS) * n or set(scores) != {1.0}:
        raise SystemExit(f"{name}: {len(scores)} scores, not all of them 1.0")
    print(json.dumps({"seconds": seconds, "kib": peak_kib() - before}))


if __name__ == "__main__":
    main()

"""One agent's examples brought to stored outcomes: order, durability, progress, resume, whatever an agent may do."""

import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from eval_pipeline.errors import RunIsBusy
from eval_pipeline.evaluator import evaluator
from eval_pipeline.flights import Limits
from eval_pipeline.grading import score_agent
from eval_pipeline.outcome import FailureKind, Outcome, Status
from eval_pipeline.results import Database, lease, outcomes, scores
from eval_pipeline.run import Progress, Work, run_agent
from eval_pipeline.suite import AgentSuite
from eval_pipeline.target import RunContext, RunOne, Target
from eval_pipeline.verdict import Score, Verdict
from tests.build import AGENT, RUN, example, start_run, suite, target

MIB = 1024 * 1024
RIGHT = {"answer": "four", "n_steps": 1}


@pytest.fixture
def database(results: Database) -> Database:
    start_run(results)
    return results


def agent(run_one: Callable[..., Any], n: int = 3, **changes: Any) -> AgentSuite:
    """An agent with so many examples, whose target runs a plain function."""
    examples = [example(f"example-{i}", inputs={"n": i}) for i in range(n)]
    return suite(*examples, target=target(run_one, **changes))


def work(of: AgentSuite, *, timeout_s: float = 60, concurrency: int = 4, **more: Any) -> Work:
    limits = Limits(concurrency, timeout_s, 8 * MIB)
    return Work(of, of.dataset.examples, RunContext(RUN, None, None), limits, **more)


def stored(database: Database) -> list[Outcome]:
    return list(outcomes.read(database, RUN, AGENT))


def run(database: Database, run_one: Callable[..., Any], n: int = 3, **more: Any) -> list[Outcome]:
    run_agent(work(agent(run_one, n), **more), database)
    return stored(database)


def right(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
    return RIGHT


def test_results_are_in_the_order_of_the_examples_whatever_finishes_first(database: Database) -> None:
    finished: list[int] = []
    turn = threading.Condition()

    def last_first(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        with turn:
            assert turn.wait_for(lambda: len(finished) == 3 - inputs["n"], 30)
            finished.append(inputs["n"])
            turn.notify_all()
        return RIGHT

    found = run(database, last_first, n=4)
    assert finished == [3, 2, 1, 0]
    assert [outcome.example_id for outcome in found] == ["example-0", "example-1", "example-2", "example-3"]


def test_what_is_finished_is_durable_while_others_still_run(database: Database) -> None:
    """H15: a kill at this moment would lose what is in flight and nothing else."""
    seen: list[int] = []

    def waits_for_the_first(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        deadline = time.monotonic() + 30
        with Database(database.url) as other:
            while inputs["n"] and time.monotonic() < deadline:
                if ("example-0", 0) in outcomes.finished(other, RUN, AGENT):
                    seen.append(inputs["n"])
                    break
                time.sleep(0.02)
        return RIGHT

    run(database, waits_for_the_first)
    assert sorted(seen) == [1, 2]


def test_a_commit_waits_for_the_disk_whatever_the_servers_default_is(database: Database) -> None:
    with database.transaction() as db:
        db.execute("create table if not exists public.seen (setting text); truncate public.seen")
        db.execute(
            "create or replace function public.note() returns trigger language plpgsql as $$ begin"
            " insert into public.seen values (current_setting('synchronous_commit')); return null; end $$"
        )
        db.execute("create trigger note after insert on results.outcomes execute function public.note()")
        db.execute("select current_database() as name")
        name = (db.fetchone() or {})["name"]
        db.execute(f'alter database "{name}" set synchronous_commit to off')
    try:
        run(database, right)
        with database.transaction() as db:
            db.execute("select distinct setting from public.seen")
            assert db.fetchall() == [{"setting": "on"}]
    finally:
        with database.transaction() as db:
            db.execute(f'alter database "{name}" reset synchronous_commit; drop trigger note on results.outcomes')


def test_progress_never_tells_more_than_is_stored(database: Database) -> None:
    told: list[Progress] = []
    too_much: list[Progress] = []

    def check(progress: Progress) -> None:
        told.append(progress)
        with Database(database.url) as other:
            if len(outcomes.finished(other, RUN, AGENT)) < progress.stored:
                too_much.append(progress)

    def some_fail(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        time.sleep(0.02)
        if inputs["n"] % 5 == 0:
            raise ValueError("boom")
        return RIGHT

    run_agent(work(agent(some_fail, 20), trials=2), database, report=check)
    assert too_much == []
    assert told[-1] == Progress(AGENT, 40, 40, failed=8, skipped=0)
    assert [item.stored for item in told] == sorted(item.stored for item in told)


def test_only_what_is_missing_runs_and_progress_counts_what_was_there(database: Database) -> None:
    """H23: run twice."""
    asked: list[int] = []

    def notes(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        asked.append(inputs["n"])
        return RIGHT

    whole = work(agent(notes, 5))
    run_agent(Work(whole.suite, whole.examples[1:3], whole.context, whole.limits), database)
    before = stored(database)
    told: list[Progress] = []
    run_agent(whole, database, report=told.append)
    assert asked[:2] != asked[2:]
    assert sorted(asked) == [0, 1, 2, 3, 4]
    assert [outcome for outcome in stored(database) if outcome.example_id in ("example-1", "example-2")] == before
    assert told[-1].stored == told[-1].of == 5
    run_agent(whole, database)
    assert len(asked) == 5


@pytest.mark.parametrize(("retry", "n_asked"), [(False, 3), (True, 4)])
def test_an_error_is_finished_unless_errors_are_to_be_retried(database: Database, retry: bool, n_asked: int) -> None:
    """H16: each example that fails has a stored row."""
    asked: list[int] = []

    def fails_once(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        asked.append(inputs["n"])
        if asked.count(1) == 1 and inputs["n"] == 1:
            raise ConnectionError("gave up after 5 retries")
        return RIGHT

    first = run(database, fails_once, concurrency=1)
    assert [outcome.status for outcome in first] == [Status.COMPLETED, Status.FAILED, Status.COMPLETED]
    run_agent(work(agent(fails_once), concurrency=1, retry_errors=retry), database)
    assert len(asked) == n_asked
    assert stored(database)[1].status is (Status.COMPLETED if retry else Status.FAILED)


def test_a_second_process_on_the_same_agent_of_a_run_is_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "PATIENCE_S", 0.2)
    refused: list[BaseException] = []

    def runs_it_again(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        with Database(database.url) as other, pytest.raises(RunIsBusy) as error:
            run_agent(work(agent(right)), other)
        refused.append(error.value)
        return RIGHT

    run(database, runs_it_again, n=1)
    assert [str(error) for error in refused] == [
        f"run {RUN}, agent {AGENT} is being run by another command: wait for it, or end it"
    ]


class Missing:
    """A prerequisite that counts how often it is looked for."""

    def __init__(self, answer: str | Exception | None) -> None:
        self.answer, self.asked = answer, 0

    def missing(self, context: RunContext) -> str | None:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def needing(*needed: Missing, opened: list[str]) -> Target:
    @contextmanager
    def opening(context: RunContext) -> Iterator[RunOne]:
        opened.append(context.run_id)
        yield right

    return target(open=opening, requires=lambda inputs: needed)


def test_what_is_missing_is_a_skip_probed_once_and_the_target_is_not_opened(database: Database) -> None:
    opened: list[str] = []
    model = Missing("no model: set ANTHROPIC_API_KEY")
    run_agent(work(suite(example("a"), example("b"), target=needing(model, opened=opened)), trials=2), database)
    assert [(o.status, o.skip_reason) for o in stored(database)] == [
        (Status.SKIPPED, "no model: set ANTHROPIC_API_KEY")
    ] * 4
    assert (model.asked, opened) == (1, [])


def test_all_that_is_needed_is_probed_before_the_target_opens(database: Database) -> None:
    opened: list[str] = []
    late = Missing(None)
    needs = needing(opened=opened)
    by_input = {0: (), 1: (late,)}

    @contextmanager
    def opening(context: RunContext) -> Iterator[RunOne]:
        assert late.asked == 1
        with needs.open(context) as run_one:
            yield run_one

    examples = [example(f"example-{i}", inputs={"n": i}) for i in range(2)]
    of = suite(*examples, target=target(open=opening, requires=lambda inputs: by_input[inputs["n"]]))
    run_agent(work(of), database)
    assert [outcome.status for outcome in stored(database)] == [Status.COMPLETED] * 2


def test_a_probe_that_raises_is_the_error_of_those_that_need_it(database: Database) -> None:
    run_agent(work(suite(example("a"), target=needing(Missing(OSError("no disk")), opened=[]))), database)
    failure = stored(database)[0].failure
    assert failure is not None
    assert failure.message == "what the example needs cannot be told: OSError: no disk"


def test_a_target_that_cannot_be_opened_is_the_error_of_every_example(database: Database) -> None:
    @contextmanager
    def cannot(context: RunContext) -> Iterator[RunOne]:
        raise RuntimeError("no graph")
        yield

    run_agent(work(suite(example("a"), example("b"), target=target(open=cannot))), database)
    found = stored(database)
    assert [o.failure.message for o in found if o.failure] == [
        "the target could not be opened: RuntimeError: no graph"
    ] * 2


def test_an_attempt_that_is_always_too_slow_fails_after_its_time_and_is_not_queued_again(database: Database) -> None:
    """H17: fails after its budget."""
    release = threading.Event()
    begun: list[int] = []

    def slow(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        begun.append(inputs["n"])
        release.wait()
        return RIGHT

    found = run(database, slow, n=2, timeout_s=0.2)
    release.set()
    assert [outcome.failure.kind for outcome in found if outcome.failure] == [FailureKind.TIMEOUT] * 2
    assert sorted(begun) == [0, 1]


AWKWARD = {
    "50 MB": ({"answer": "x" * 50 * MIB}, "the limit is 8388608 (EVAL_MAX_OUTPUT_BYTES)"),
    "NaN": ({"answer": float("nan")}, "$.answer: nan is not a JSON number"),
    "infinity": ({"answer": float("-inf")}, "$.answer: -inf is not a JSON number"),
    "not JSON": ({"answer": object()}, "$.answer: object is not a JSON value"),
}


@pytest.mark.parametrize(("outputs", "told"), AWKWARD.values(), ids=AWKWARD.keys())
def test_outputs_that_cannot_be_kept_are_an_error_of_their_example_alone(
    database: Database, outputs: dict[str, Any], told: str
) -> None:
    """H40: the run goes on, what is kept is bounded."""
    first, second = run(database, lambda inputs, _: outputs if inputs["n"] == 0 else RIGHT, n=2)
    assert first.failure is not None
    assert first.failure.kind is FailureKind.INVALID_OUTPUTS
    assert told in first.failure.message
    assert second.outputs == RIGHT


@pytest.mark.parametrize("text", ["a\0b", "\ud800 alone", "\udfff", "\x1b[2J", "\u2028"])
def test_outputs_and_errors_may_hold_any_text(database: Database, text: str) -> None:
    def says(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
        if inputs["n"]:
            raise ValueError(f"told {text}")
        return {"answer": text, "n_steps": 1}

    first, second = run(database, says, n=2)
    assert first.outputs == {"answer": text, "n_steps": 1}
    assert second.failure is not None
    assert second.failure.message.startswith("ValueError: told")


class _Refuses(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_error(400, "model not found")

    def log_message(self, *_: Any) -> None:
        pass


def test_no_example_passes_when_the_model_answers_400_to_everything(database: Database) -> None:
    """H48: the model does not exist."""
    with HTTPServer(("127.0.0.1", 0), _Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def asks(inputs: dict[str, Any], _: Any) -> dict[str, Any]:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/v1/messages", b"{}") as answer:
                return {"answer": answer.read().decode(), "n_steps": 1}

        of = agent(asks)
        run_agent(work(of), database)
        server.shutdown()
    score_agent(of, database, RUN)
    graded = scores.read(database, RUN, AGENT)
    assert [item.decision.verdict for item in graded] == [Verdict.ERROR] * 3
    assert all("HTTP Error 400" in item.decision.reason for item in graded)


def test_a_grader_whose_answer_cannot_be_read_is_an_error_and_no_pass(database: Database) -> None:
    """H09: the grader's reply is unparseable."""

    @evaluator(reads={"answer"}, scores={"answer_correct"})
    def graded(outputs: Any, expected: Any) -> Iterator[Score]:
        yield Score("answer_correct", json.loads("the answer is {good")["score"])

    of = suite(example("a"), target=target(right), evaluators=(graded,))
    run_agent(work(of), database)
    score_agent(of, database, RUN)
    (item,) = scores.read(database, RUN, AGENT)
    assert item.decision.verdict is Verdict.ERROR
    assert "JSONDecodeError" in item.decision.reason
    assert item.scores == ()

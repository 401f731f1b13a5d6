"""The contract of the two stores: one suite for the real ones and their doubles, so that they cannot drift apart."""

import hashlib
import string
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bookkeeping.intake import FileSink, IntakeQueue, QueueItem
from bookkeeping.intake.file_sink import FsspecSink
from bookkeeping.intake.postgres_queue import PostgresQueue
from eval_pipeline.doubles.clerk import MemoryQueue, MemorySink

MINUTE = timedelta(minutes=1)
AT_ONCE = timedelta(0)
"""A lease that has run out when it is given."""


@pytest.fixture(params=["real", "double"])
def queue(request: pytest.FixtureRequest) -> IntakeQueue:
    if request.param == "double":
        return MemoryQueue()
    real: PostgresQueue = request.getfixturevalue("postgres_queue")
    return real


@pytest.fixture(params=["real", "real over fsspec's memory", "double"])
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> FileSink:
    if request.param == "double":
        return MemorySink()
    return FsspecSink(tmp_path / "sink" if request.param == "real" else f"memory://{uuid.uuid4().hex}")


@pytest.fixture
def name() -> str:
    """The name of a queue that no other test uses."""
    return "q_" + "".join(string.ascii_lowercase[int(digit, 16)] for digit in uuid.uuid4().hex)


def item(queue: str, **payload: object) -> QueueItem:
    return QueueItem(uuid.uuid4().hex, queue, payload)


def test_what_is_put_comes_out_as_it_was_in_the_order_in_which_it_was_put(queue: IntakeQueue, name: str) -> None:
    first, second = item(name, n=1, text="ü\x00\ud800 'quoted'"), item(name, nested={"list": [1, None, "x"]})
    assert queue.put(first)
    assert queue.put(second)
    assert queue.depth(name) == 2
    taken = [queue.take(name, MINUTE), queue.take(name, MINUTE)]
    assert [one and one.item for one in taken] == [first, second]
    assert [one and one.n_deliveries for one in taken] == [1, 1]
    assert queue.take(name, MINUTE) is None


def test_a_key_is_put_once_and_the_first_item_stands(queue: IntakeQueue, name: str) -> None:
    first = item(name, n=1)
    assert queue.put(first)
    assert not queue.put(first)
    assert not queue.put(QueueItem(first.key, f"{name}_other", {"n": 2}))
    assert (queue.depth(name), queue.depth(f"{name}_other")) == (1, 0)
    assert queue.queue_of(first.key) == name
    taken = queue.take(name, MINUTE)
    assert taken is not None
    assert taken.item == first


def test_a_key_stays_taken_after_its_item_is_done(queue: IntakeQueue, name: str) -> None:
    first = item(name)
    queue.put(first)
    taken = queue.take(name, MINUTE)
    assert taken is not None
    assert queue.done(taken)
    assert not queue.put(first)
    assert queue.queue_of(first.key) == name
    assert queue.depth(name) == 0
    assert queue.take(name, MINUTE) is None


def test_an_unknown_key_is_in_no_queue(queue: IntakeQueue) -> None:
    assert queue.queue_of(uuid.uuid4().hex) is None


def test_queues_are_apart(queue: IntakeQueue, name: str) -> None:
    queue.put(item(name))
    assert queue.take(f"{name}_other", MINUTE) is None
    assert queue.depth(f"{name}_other") == 0


def test_an_item_whose_lease_ran_out_is_delivered_again_and_the_first_taker_has_lost_it(
    queue: IntakeQueue, name: str
) -> None:
    queue.put(item(name))
    lost = queue.take(name, AT_ONCE)
    again = queue.take(name, MINUTE)
    assert lost is not None
    assert again is not None
    assert (again.item, again.n_deliveries) == (lost.item, 2)
    assert not queue.done(lost)
    assert not queue.release(lost)
    assert queue.depth(name) == 1
    assert queue.done(again)
    assert queue.depth(name) == 0


def test_what_nobody_took_over_may_still_be_done_after_its_lease(queue: IntakeQueue, name: str) -> None:
    queue.put(item(name))
    taken = queue.take(name, AT_ONCE)
    assert taken is not None
    assert queue.done(taken)
    assert queue.take(name, MINUTE) is None


def test_what_is_given_back_is_the_next_to_be_delivered(queue: IntakeQueue, name: str) -> None:
    first, second = item(name, n=1), item(name, n=2)
    queue.put(first)
    queue.put(second)
    taken = queue.take(name, MINUTE)
    assert taken is not None
    assert queue.release(taken)
    assert not queue.release(taken)
    again = queue.take(name, MINUTE)
    assert again is not None
    assert (again.item, again.n_deliveries) == (first, 2)


def test_done_is_done_once(queue: IntakeQueue, name: str) -> None:
    queue.put(item(name))
    taken = queue.take(name, MINUTE)
    assert taken is not None
    assert queue.done(taken)
    assert not queue.done(taken)
    assert not queue.release(taken)


WRONG: tuple[Callable[[IntakeQueue], object], ...] = (
    lambda queue: queue.put(QueueItem("", "review", {})),
    lambda queue: queue.put(QueueItem("a\x00b", "review", {})),
    lambda queue: queue.put(QueueItem("k" * 201, "review", {})),
    lambda queue: queue.put(QueueItem("key", "Review; DROP TABLE intake.items", {})),
    lambda queue: queue.put(QueueItem("key", "review", {"amount": float("nan")})),
    lambda queue: queue.queue_of("'"),
    lambda queue: queue.take("../review", MINUTE),
    lambda queue: queue.take("review", timedelta(seconds=-1)),
    lambda queue: queue.take("review", timedelta(days=2)),
    lambda queue: queue.depth(""),
)


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_is_refused_and_changes_nothing(queue: IntakeQueue, call: Callable[[IntakeQueue], object]) -> None:
    with pytest.raises(ValueError, match=r"is no|lease|JSON"):
        call(queue)
    assert queue.depth("review") == 0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "take", "take and lose", "done", "release", "depth", "queue_of"]), st.integers(0, 3)
    ),
    max_size=25,
)


@given(STEPS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_double_does_what_the_real_queue_does_whatever_is_done(
    postgres_queue: PostgresQueue, steps: list[tuple[str, int]]
) -> None:
    prefix = uuid.uuid4().hex
    name = "r_" + "".join(string.ascii_lowercase[int(digit, 16)] for digit in prefix)
    real, double = [_told(one, prefix, name, steps) for one in (postgres_queue, MemoryQueue())]
    assert real == double


def _told(queue: IntakeQueue, prefix: str, name: str, steps: list[tuple[str, int]]) -> list[object]:
    """What a queue answers to these steps; of a delivery all but its receipt."""
    told: list[object] = []
    held = []
    for step, number in steps:
        match step:
            case "put":
                told.append(queue.put(QueueItem(f"{prefix}.{number}", name, {"n": number})))
            case "take" | "take and lose":
                taken = queue.take(name, MINUTE if step == "take" else AT_ONCE)
                told.append(taken and (taken.item, taken.n_deliveries))
                held += [taken] if taken else []
            case "done" | "release" if held:
                told.append(getattr(queue, step)(held[number % len(held)]))
            case "queue_of":
                told.append(queue.queue_of(f"{prefix}.{number}"))
            case _:
                told.append(queue.depth(name))
    return told


def test_bytes_come_back_as_they_were(sink: FileSink) -> None:
    content = bytes(range(256)) * 5
    stored = sink.store("archive", content)
    assert stored.is_new
    assert stored.digest == hashlib.sha256(content).hexdigest()
    assert stored.path == f"archive/{stored.digest[:2]}/{stored.digest}"
    assert sink.holds(stored.path)
    assert sink.read(stored.path) == content
    assert sink.paths("archive") == (stored.path,)


def test_the_same_bytes_are_stored_once_an_area(sink: FileSink) -> None:
    first, second = sink.store("archive", b"same"), sink.store("archive", b"same")
    assert (second.path, second.is_new) == (first.path, False)
    elsewhere = sink.store("pending", b"same")
    assert elsewhere.is_new
    assert (sink.paths("archive"), sink.paths("pending")) == ((first.path,), (elsewhere.path,))


def test_no_bytes_are_bytes_too(sink: FileSink) -> None:
    stored = sink.store("archive", b"")
    assert sink.read(stored.path) == b""


def test_what_was_never_stored_is_not_there(sink: FileSink) -> None:
    path = f"archive/{'0' * 2}/{'0' * 64}"
    assert not sink.holds(path)
    assert sink.paths("archive") == ()
    with pytest.raises(FileNotFoundError):
        sink.read(path)


HOSTILE = (
    "",
    ".",
    "..",
    "../archive",
    "/etc",
    "archive/../..",
    "archive\x00",
    "archive\n",
    "Archive",
    ".partial",
    "a" * 41,
    "~",
    "file:///etc",
    "archive\\..\\..",
    "ａrchive",
)


@pytest.mark.parametrize("area", HOSTILE)
def test_a_hostile_area_is_refused(sink: FileSink, area: str) -> None:
    for call in (lambda: sink.store(area, b"x"), lambda: sink.paths(area)):
        with pytest.raises(ValueError, match="is no name"):
            call()


@pytest.mark.parametrize("path", [*HOSTILE, "archive", "archive/ab/../../../etc/passwd", f"archive/ab/{'g' * 64}"])
def test_a_path_that_the_sink_did_not_give_is_never_opened(sink: FileSink, path: str) -> None:
    for call in (sink.read, sink.holds):
        with pytest.raises(ValueError, match="is no path"):
            call(path)

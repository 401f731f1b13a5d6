"""What only the real stores can get wrong: two takers at once, a server that is gone, a broken write, links."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from bookkeeping.intake import IntakeUnavailable, QueueItem
from bookkeeping.intake.file_sink import FsspecSink
from bookkeeping.intake.live import open_intake
from bookkeeping.intake.migrate import HEAD, MIGRATIONS
from bookkeeping.intake.postgres_queue import PostgresQueue

MINUTE = timedelta(minutes=1)


def test_takers_at_the_same_time_never_get_the_same_item(postgres_queue: PostgresQueue) -> None:
    keys = {uuid.uuid4().hex for _ in range(40)}
    for key in keys:
        postgres_queue.put(QueueItem(key, "crowded", {}))
    together = threading.Barrier(4)

    def take_all() -> list[str]:
        together.wait()
        found = []
        while taken := postgres_queue.take("crowded", MINUTE):
            found.append(taken.item.key)
        return found

    with ThreadPoolExecutor(4) as pool:
        taken = [key for future in [pool.submit(take_all) for _ in range(4)] for key in future.result()]
    assert len(taken) == 40
    assert set(taken) == keys


def test_an_item_that_another_session_is_taking_is_passed_over_and_not_waited_for(
    postgres_queue: PostgresQueue, queue_url: str
) -> None:
    first, second = (QueueItem(uuid.uuid4().hex, "locked", {}) for _ in range(2))
    postgres_queue.put(first)
    postgres_queue.put(second)
    impatient = make_conninfo(queue_url, options="-c lock_timeout=2000")
    with psycopg.connect(queue_url) as other, PostgresQueue(impatient, pool_size=1) as queue:
        other.execute("SELECT 1 FROM intake.items WHERE key = %s FOR UPDATE", [first.key])
        taken = queue.take("locked", MINUTE)
    assert taken is not None
    assert taken.item == second


def test_an_item_whose_taker_died_in_the_middle_of_taking_is_still_there(
    postgres_queue: PostgresQueue, queue_url: str
) -> None:
    item = QueueItem(uuid.uuid4().hex, "crashed", {})
    postgres_queue.put(item)
    other = psycopg.connect(queue_url)
    other.execute(
        "UPDATE intake.items SET leased_until = 'infinity', receipt = gen_random_uuid() WHERE queue='crashed'"
    )
    other.close()  # without a commit, as a killed process would
    taken = postgres_queue.take("crashed", MINUTE)
    assert taken is not None
    assert taken.n_deliveries == 1


def test_the_version_in_the_code_is_that_of_the_newest_migration() -> None:
    newest = max(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))
    assert newest == HEAD


def test_migrating_twice_changes_nothing(postgres_queue: PostgresQueue) -> None:
    item = QueueItem(uuid.uuid4().hex, "migrated", {})
    postgres_queue.put(item)
    postgres_queue.migrate()
    assert postgres_queue.depth("migrated") == 1


def test_a_database_that_is_not_migrated_says_what_to_do(database_url: str) -> None:
    with PostgresQueue(database_url) as queue, pytest.raises(IntakeUnavailable, match=r"run migrate\(\)"):
        queue.depth("review")


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(IntakeUnavailable) as raised:
        PostgresQueue("postgresql://clerk:secret-word@127.0.0.1:1/books")
    assert str(raised.value) == "no queue reachable at 127.0.0.1:1"
    assert raised.value.__cause__ is None


def test_a_url_that_is_none_is_refused_without_being_shown() -> None:
    with pytest.raises(ValueError, match="not a Postgres URL") as raised:
        PostgresQueue("mysql://clerk:secret-word@host/books")
    assert "secret-word" not in str(raised.value)


def test_without_an_address_there_is_no_live_queue(tmp_path: Path) -> None:
    with pytest.raises(IntakeUnavailable, match="set INTAKE_QUEUE_URL"), open_intake({}):
        pass


def test_what_is_put_into_the_live_stores_is_there_for_the_next_process(queue_url: str, tmp_path: Path) -> None:
    environment = {"INTAKE_QUEUE_URL": queue_url, "INTAKE_SINK_URL": str(tmp_path / "sink")}
    with open_intake(environment) as (queue, sink):
        stored = sink.store("archive", b"kept")
        queue.put(QueueItem("live-1", "live", {"path": stored.path}))
    with open_intake(environment) as (queue, sink):
        taken = queue.take("live", MINUTE)
        assert taken is not None
        assert sink.read(taken.item.payload["path"]) == b"kept"


class _BreaksOff(Exception):
    pass


@contextmanager
def _breaking_after(n_bytes: int, monkeypatch: pytest.MonkeyPatch, sink: FsspecSink) -> Iterator[None]:
    """The sink's file system stops in the middle of writing, as a full disk would make it."""
    files: Any = sink._files
    opened = files.open

    class Broken:
        def __init__(self, place: str) -> None:
            self._file = opened(place, "wb")

        def __enter__(self) -> "Broken":
            return self

        def __exit__(self, *_: object) -> None:
            self._file.close()

        def write(self, content: bytes) -> None:
            self._file.write(content[:n_bytes])
            raise _BreaksOff

    with monkeypatch.context() as patched:
        patched.setattr(type(files), "open", lambda _, place, mode: Broken(place))
        yield


def test_a_write_that_breaks_off_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = FsspecSink(tmp_path / "sink")
    with _breaking_after(3, monkeypatch, sink), pytest.raises(_BreaksOff):
        sink.store("archive", b"0123456789")
    assert sink.paths("archive") == ()
    assert [path for path in (tmp_path / "sink").rglob("*") if path.is_file()] == []
    stored = sink.store("archive", b"0123456789")
    assert stored.is_new
    assert sink.read(stored.path) == b"0123456789"


def test_many_writers_of_the_same_bytes_leave_one_whole_file(tmp_path: Path) -> None:
    sink, content = FsspecSink(tmp_path / "sink"), b"x" * 200_000
    with ThreadPoolExecutor(6) as pool:
        paths = {future.result().path for future in [pool.submit(sink.store, "archive", content) for _ in range(12)]}
    files = [path for path in (tmp_path / "sink").rglob("*") if path.is_file()]
    assert [path.relative_to(tmp_path / "sink").as_posix() for path in files] == list(paths)
    assert files[0].read_bytes() == content


def test_a_link_that_leads_out_of_the_sink_is_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "sink"
    outside.mkdir()
    root.mkdir()
    (root / "archive").symlink_to(outside)
    with pytest.raises(ValueError, match="leads out of the sink"):
        FsspecSink(root).store("archive", b"x")
    assert list(outside.iterdir()) == []


def test_a_sink_whose_root_is_itself_behind_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    stored = FsspecSink(tmp_path / "link").store("archive", b"x")
    assert (tmp_path / "real" / stored.path).read_bytes() == b"x"

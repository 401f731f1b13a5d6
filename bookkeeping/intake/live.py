"""The real queue and the real sink, from the environment. An eval never opens them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bookkeeping.intake.file_sink import FsspecSink
from bookkeeping.intake.ports import FileSink, IntakeQueue, IntakeUnavailable
from bookkeeping.intake.postgres_queue import PostgresQueue

QUEUE = "INTAKE_QUEUE_URL"
SINK = "INTAKE_SINK_URL"
DEFAULT_SINK = Path("~/.local/share/bookkeeping/intake")
"""A folder of the user's own, where the environment names no other place."""


@contextmanager
def open_intake(environment: Mapping[str, str]) -> Iterator[tuple[IntakeQueue, FileSink]]:
    """Both, the queue migrated. Raises IntakeUnavailable when there is no queue, ValueError for a URL that is none."""
    url = environment.get(QUEUE)
    if not url:
        raise IntakeUnavailable(f"no queue: set {QUEUE}")
    with PostgresQueue(url) as queue:
        queue.migrate()
        yield queue, FsspecSink(environment.get(SINK) or DEFAULT_SINK.expanduser())

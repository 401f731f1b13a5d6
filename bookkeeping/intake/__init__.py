"""Intake: the two places where the Clerk keeps things, the queue and the file sink.

``ports`` are the interfaces. The real ones are ``PostgresQueue`` (postgres_queue.py) and ``FsspecSink``
(file_sink.py); ``open_intake`` makes them from the environment. Importing this package is cheap.
"""

from bookkeeping.intake.ports import FileSink, IntakeQueue, IntakeUnavailable, QueueItem, StoredFile, Taken

__all__ = ["FileSink", "IntakeQueue", "IntakeUnavailable", "QueueItem", "StoredFile", "Taken"]

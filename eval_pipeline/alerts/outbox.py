"""The outbox: events are kept first, in one transaction with the mark that their night was looked at, and sent from it.

An event is kept once by its key, so a night may be looked at again after a crash. Each channel gets it once, in the
order in which events were kept: one that is down waits and gets all of it later, the others do not wait for it. One
sender at a time: a second one finds the lock taken and leaves. What was sent by a process that died before it could
mark it is sent again, with the same key.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from eval_pipeline.alerts.events import Event
from eval_pipeline.results.database import Database

SENDER_LOCK = 0x616C6572
"""Advisory lock (of this database) of the one who sends."""

Send = Callable[[str, str], bool]
"""Sends a title and a body through one channel; whether it was taken."""


def keep(database: Database, night: str, events: Iterable[Event]) -> None:
    """Keeps the events of a night, and that it was looked at: all of it or nothing."""
    with database.transaction() as db:
        for event in events:
            db.execute(
                "insert into results.alerts (key, kind, title, body) values (%s, %s, %s, %s)"
                " on conflict (key) do nothing",
                (event.key, event.kind, event.title, event.body),
            )
        db.execute("insert into results.alerted_nights (night) values (%s) on conflict do nothing", (night,))


def looked_at(database: Database, nights: Sequence[str]) -> frozenset[str]:
    """Those of these nights that were looked at."""
    with database.transaction() as db:
        db.execute("select night from results.alerted_nights where night = any(%s)", (list(nights),))
        return frozenset(row["night"] for row in db.fetchall())


def is_new(database: Database) -> bool:
    """Whether no night was ever looked at: then what happened before is history, and no news."""
    with database.transaction() as db:
        db.execute("select not exists (select from results.alerted_nights) as new")
        return bool((db.fetchone() or {})["new"])


def send_kept(database: Database, channels: Mapping[str, Send]) -> int:
    """Sends what is kept through every channel that has not taken it yet; gives how many events still wait for one.

    ``channels`` are senders by a name that is no secret. Each delivery is marked as soon as it was taken.
    """
    with Database(database.url) as lock, lock.transaction() as held:
        held.execute("select pg_try_advisory_xact_lock(%s) as mine", (SENDER_LOCK,))
        if (held.fetchone() or {})["mine"]:
            down = {name for name, send in channels.items() if not _sent(database, name, send)}
            _mark(database, list(channels), down)
    with database.transaction() as db:
        db.execute("select count(*) as n from results.alerts where sent_at is null")
        return int((db.fetchone() or {})["n"])


def _sent(database: Database, channel: str, send: Send) -> bool:
    """Sends one channel what it lacks, in order, up to the first that it does not take; whether it took all."""
    with database.transaction() as db:
        db.execute(
            "select key, title, body from results.alerts a where sent_at is null and not exists"
            " (select from results.alert_deliveries d where d.key = a.key and d.channel = %s) order by created_at, key",
            (channel,),
        )
        waiting = db.fetchall()
    for row in waiting:
        if not send(row["title"], f"{row['body']}\n[{row['key']}]".strip()):
            return False
        with database.transaction() as db:
            db.execute("insert into results.alert_deliveries (key, channel) values (%s, %s)", (row["key"], channel))
    return True


def _mark(database: Database, channels: Sequence[str], down: Collection[str]) -> None:
    problem = f"{len(down)} of {len(channels)} channels did not take it" if down else None
    with database.transaction() as db:
        db.execute(
            "update results.alerts a set attempts = attempts + 1, problem = %s where sent_at is null", (problem,)
        )
        db.execute(
            "update results.alerts a set sent_at = clock_timestamp(), problem = null where sent_at is null and"
            " (select count(*) from results.alert_deliveries d where d.key = a.key and d.channel = any(%s)) = %s",
            (list(channels), len(channels)),
        )

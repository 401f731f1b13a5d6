"""Claims: who writes in a run. Two commands on one run would mix; the second is refused with a sentence.

Advisory locks of a session: whoever dies, however he dies, has let go as soon as the server has ended his session, and
with it whatever he was still writing.

The outcomes of one agent in a run belong to one *holder* at a time: a command, or one Dagster run, whose steps may be
processes on several machines. The holder's shards are written side by side, each by one session alone.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, sleep
from uuid import uuid4

from eval_pipeline.errors import RunIsBusy
from eval_pipeline.results.database import Cursor, Database
from eval_pipeline.shard import WHOLE, Shard

PATIENCE_S = 5.0
"""How long a claim is asked for: the session of a process that was killed may take a moment to end."""
_ASK_AGAIN_S = 0.1

_NOTICE_A_DEAD_HOST = """
set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3
"""
"""After a minute without a sign of life the server ends the session of a host that lost its power or its network."""


@dataclass(frozen=True, slots=True)
class Share:
    """Who writes outcomes of an agent, and which shard of them. By default somebody of his own, the whole."""

    holder: str = field(default_factory=lambda: str(uuid4()))
    shard: Shard = WHOLE


@contextmanager
def claimed_run(database: Database, run_id: str) -> Iterator[None]:
    """Holds the claim on a whole run, as a command does from its plan to its board. Raises RunIsBusy."""
    what = f"run {run_id}"
    _insist(what, lambda: _claim(database, what))
    try:
        yield
    finally:
        _release(database, what)


def is_run_claimed(database: Database, run_id: str) -> bool:
    """Whether the command of a run lives; of the caller's own run in this session this says nothing."""
    what = f"run {run_id}"
    if not _claim(database, what):
        return True
    _release(database, what)
    return False


def claim_share(
    database: Database, run_id: str, agent: str, share: Share, should_stop: Callable[[], bool] = lambda: False
) -> bool:
    """Claims a share of one agent's outcomes in a run for this connection, until it is closed.

    Raises RunIsBusy when another holder has outcomes of the agent. When a session of the same holder has this very
    shard, it is waited for: the work was handed out twice, and what the other one leaves is done by who comes after.
    False when ``should_stop`` ended the waiting.
    """
    with database.transaction() as db:
        db.execute(_NOTICE_A_DEAD_HOST)
    what = _agent(run_id, agent)
    _insist(what, lambda: _join(database, what, share.holder))
    while not _claim(database, f"{what}, shard {share.shard.key}"):
        if should_stop():
            return False
        sleep(_ASK_AGAIN_S)
    return True


@contextmanager
def held_agent(database: Database, run_id: str, agent: str, holder: str) -> Iterator[None]:
    """While this lasts, no other holder writes outcomes of the agent in the run. Raises RunIsBusy."""
    what = _agent(run_id, agent)
    _insist(what, lambda: _join(database, what, holder))
    try:
        yield
    finally:
        with database.transaction() as db:
            db.execute("select pg_advisory_unlock_shared(hashtext(%s), hashtext(%s))", (_name(what), holder))


def require_unclaimed(database: Database, run_id: str, agents: Iterable[str]) -> None:
    """Raises RunIsBusy when another process writes outcomes of one of these agents in the run."""
    for agent in agents:
        with held_agent(database, run_id, agent, str(uuid4())):
            pass


_HELD = """
select exists (
    select from pg_locks
    where locktype = 'advisory' and objsubid = 2
      and database = (select oid from pg_database where datname = current_database())
      and classid = any (select hashtext(name)::oid from unnest(%s::text[]) as name)
) as there
"""


def is_idle(db: Cursor, run_id: str, agents: Iterable[str]) -> bool:
    """Whether nobody works on a run; then no command can begin to until the caller's transaction has ended."""
    db.execute("select pg_try_advisory_xact_lock(hashtextextended(%s, 0)) as got", (_name(f"run {run_id}"),))
    if not _answer(db, "got"):
        return False
    db.execute(_HELD, ([_name(_agent(run_id, agent)) for agent in agents],))
    return not _answer(db, "there")


def _agent(run_id: str, agent: str) -> str:
    return f"run {run_id}, agent {agent}"


def _name(what: str) -> str:
    return f"eval-pipeline {what}"


def _insist(what: str, question: Callable[[], bool]) -> None:
    """Asks until the answer is yes. Raises RunIsBusy when it stays no."""
    until = monotonic() + PATIENCE_S
    while not question():
        if monotonic() > until:
            raise RunIsBusy(f"{what} is being run by another command: wait for it, or end it")
        sleep(_ASK_AGAIN_S)


_OTHERS = """
select exists (
    select from pg_locks
    where locktype = 'advisory' and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())
      and classid = hashtext(%s)::oid and objid <> hashtext(%s)::oid
) as there
"""
"""Locks of two keys, what and holder: those of other holders."""


def _join(database: Database, what: str, holder: str) -> bool:
    """Takes the holder's lock, which his sessions share, unless another holder has his. One joins after the other."""
    names = _name(what), holder
    with database.transaction() as db:
        db.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"{_name(what)}, joining",))
        db.execute(_OTHERS, names)
        if _answer(db, "there"):
            return False
        db.execute("select pg_advisory_lock_shared(hashtext(%s), hashtext(%s))", names)
        return True


def _claim(database: Database, what: str) -> bool:
    with database.transaction() as db:
        db.execute("select pg_try_advisory_lock(hashtextextended(%s, 0)) as got", (_name(what),))
        return _answer(db, "got")


def _release(database: Database, what: str) -> None:
    with database.transaction() as db:
        db.execute("select pg_advisory_unlock(hashtextextended(%s, 0))", (_name(what),))


def _answer(db: Cursor, column: str) -> bool:
    return bool((db.fetchone() or {})[column])

"""Who may write: the shards of one holder side by side, two holders never, and nobody in the name of the dead."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg
import pytest

from eval_pipeline.errors import RunIsBusy
from eval_pipeline.results import Database, lease
from eval_pipeline.results.lease import Share, claim_share, held_agent, require_unclaimed
from eval_pipeline.shard import WHOLE, Shard

RUN, AGENT = "run-1", "sampler"
FIRST, SECOND = Shard(0, 2), Shard(1, 2)

pytestmark = pytest.mark.timeout(60)  # a claim that is never given would be waited for

Session = Callable[[], Database]


@pytest.fixture
def session(results: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """Opens sessions, which end with the test."""
    monkeypatch.setattr(lease, "PATIENCE_S", 0.2)
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Database(results.url))


def test_the_shards_of_one_run_are_written_side_by_side(session: Session) -> None:
    assert claim_share(session(), RUN, AGENT, Share("dagster-run", FIRST))
    assert claim_share(session(), RUN, AGENT, Share("dagster-run", SECOND))


@pytest.mark.parametrize("theirs", [FIRST, SECOND, WHOLE, Shard(1, 3)])
def test_another_run_on_the_same_outcomes_is_refused_whatever_its_shards(session: Session, theirs: Shard) -> None:
    claim_share(session(), RUN, AGENT, Share("one", FIRST))
    with pytest.raises(RunIsBusy, match="run run-1, agent sampler is being run by another command"):
        claim_share(session(), RUN, AGENT, Share("another", theirs))


def test_a_command_is_refused_while_a_shard_is_written_and_free_afterwards(session: Session) -> None:
    writing = session()
    claim_share(writing, RUN, AGENT, Share("one", SECOND))
    with pytest.raises(RunIsBusy):
        require_unclaimed(session(), RUN, [AGENT])
    writing.close()
    require_unclaimed(session(), RUN, [AGENT])
    assert claim_share(session(), RUN, AGENT, Share("another"))


def test_looking_whether_an_agent_is_free_leaves_it_free(session: Session) -> None:
    asking = session()
    require_unclaimed(asking, RUN, [AGENT])
    with held_agent(asking, RUN, AGENT, "planning"):
        pass
    assert claim_share(session(), RUN, AGENT, Share("another"))


def test_a_plan_is_not_made_while_another_run_writes(session: Session) -> None:
    claim_share(session(), RUN, AGENT, Share("one", FIRST))
    with pytest.raises(RunIsBusy), held_agent(session(), RUN, AGENT, "another"):
        pass
    with held_agent(session(), RUN, AGENT, "one"):
        pass


def test_other_agents_and_other_runs_are_nobody_elses_business(session: Session) -> None:
    claim_share(session(), RUN, AGENT, Share("one"))
    assert claim_share(session(), RUN, "another-agent", Share("another"))
    assert claim_share(session(), "run-2", AGENT, Share("another"))


def test_a_shard_that_is_handed_out_twice_waits_for_the_first_to_end(session: Session) -> None:
    """The worker that has it is killed: its session ends, and the second one goes on."""
    share = Share("dagster-run", FIRST)
    first, second = session(), session()
    claim_share(first, RUN, AGENT, share)
    got: list[bool] = []
    waiting = threading.Thread(target=lambda: got.append(claim_share(second, RUN, AGENT, share)))
    waiting.start()
    waiting.join(0.5)
    assert waiting.is_alive()
    with psycopg.connect(first.url, autocommit=True) as other:
        other.execute(
            "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 1 and granted"
            " and database = (select oid from pg_database where datname = current_database())"  # others test here too
        )
    waiting.join(10)
    assert got == [True]


def test_who_waits_for_a_shard_can_be_told_to_stop(session: Session) -> None:
    share = Share("dagster-run", FIRST)
    claim_share(session(), RUN, AGENT, share)
    assert claim_share(session(), RUN, AGENT, share, should_stop=lambda: True) is False


def test_the_server_ends_the_session_of_a_host_that_is_gone(session: Session) -> None:
    """Over TCP; a socket of this machine knows by itself. The setting is the session's own."""
    writing = session()
    claim_share(writing, RUN, AGENT, Share())
    with writing.transaction() as db:
        db.execute("select name from pg_settings where name like 'tcp_keepalives%%' and source = 'session' order by 1")
        assert [row["name"] for row in db.fetchall()] == [
            "tcp_keepalives_count",
            "tcp_keepalives_idle",
            "tcp_keepalives_interval",
        ]

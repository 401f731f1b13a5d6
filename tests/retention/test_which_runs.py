"""Which runs may go: old ones that nobody needs, and no others. By a second reading of the rule, on values alone."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.retention import StoredRun, deletable, newest_whole

NOW = datetime(2026, 12, 1, tzinfo=UTC)
LAST = 2


def ago(days):
    return NOW - timedelta(days=days)


def run(run_id, days, **changes):
    """A whole run of one agent, so many days ago."""
    given_ = {
        "finished_at": ago(days),
        "model": None,
        "is_whole": True,
        "has_whole_board": True,
        "agents": frozenset({"clerk"}),
    }
    return StoredRun(run_id=run_id, created_at=ago(days), **given_ | changes)


agents = st.frozensets(st.sampled_from(["clerk", "auditor"]), min_size=1)
graded = st.frozensets(st.sampled_from([("clerk", "a"), ("clerk", "b")]))


@st.composite
def histories(draw):
    found = []
    for number in range(draw(st.integers(0, 12))):
        days = draw(st.integers(0, 40))
        is_whole = draw(st.booleans())
        found.append(
            StoredRun(
                f"r{number}",
                ago(days),
                draw(st.sampled_from([None, ago(days)])),
                draw(st.sampled_from([None, "small"])),
                is_whole,
                is_whole and draw(st.booleans()),
                draw(st.booleans()),
                draw(agents),
                draw(graded),
            )
        )
    return found


@given(histories(), st.integers(0, 40), st.data())
def test_only_what_is_old_and_needed_by_nobody_goes_and_all_of_that(runs, keep_days, data):
    busy = frozenset(data.draw(st.lists(st.sampled_from([item.run_id for item in runs] or ["none"]))))
    gone = {item.run_id for item in deletable(runs, ago(keep_days), busy, LAST)}
    for item in runs:
        assert (item.run_id in gone) == (
            item.ended_at < ago(keep_days) and item.run_id not in busy and not needed(item, runs)
        )
    left = [item for item in runs if item.run_id not in gone]
    assert deletable(left, ago(keep_days), busy, LAST) == ()


def needed(item, runs):
    """The newest whole one of an agent with its model, the newest GREEN one, or one of the last with an example."""
    newer = [other for other in runs if (other.created_at, other.run_id) > (item.created_at, item.run_id)]
    is_newest = any(
        item.is_whole
        and item.has_whole_board
        and not any(o.is_whole and o.has_whole_board and o.model == item.model and agent in o.agents for o in newer)
        for agent in item.agents
    )
    is_newest_green = item.has_been_green and not any(other.has_been_green for other in newer)
    is_looked_at = item.is_whole and any(
        sum(o.is_whole and o.model == item.model and example in o.graded for o in newer) < LAST
        for example in item.graded
    )
    return is_newest or is_newest_green or is_looked_at


def test_the_newest_whole_run_of_each_model_stays_however_old_it_is():
    runs = [run("old", 300), run("older", 400), run("small", 500, model="small"), run("part", 1, has_whole_board=False)]
    assert newest_whole(runs) == {"old", "small"}
    assert [item.run_id for item in deletable(runs, ago(30), frozenset())] == ["older"]


def test_a_run_that_began_before_and_ended_after_the_limit_stays():
    runs = [run("newest", 0), run("long", 31, finished_at=ago(29)), run("killed", 31, finished_at=None, is_whole=False)]
    assert [item.run_id for item in deletable(runs, ago(30), frozenset())] == ["killed"]

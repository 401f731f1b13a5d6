"""The board adds up what is stored, and cannot look better than it is."""

import json
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest

from eval_pipeline.board import AgentBoard, Board, State, agent_state, board_state, build_board
from eval_pipeline.errors import ConfigError
from eval_pipeline.outcome import ModelIdentity, Status, Usage
from eval_pipeline.results import Database, outcomes, runs, scores
from eval_pipeline.results.scores import Graded
from eval_pipeline.statistics import wilson
from eval_pipeline.values import canonical_text
from eval_pipeline.verdict import Decision, Excused, Score, Verdict
from tests.build import AGENT, NOW, RUN, agent_row, outcome, run_row


@pytest.fixture
def database(results: Database) -> Database:
    return results


def graded(verdict: Verdict, position: int, **changes: Any) -> Graded:
    values = {"failed": (), "excused": (), "xpass": ()}
    value = 0.0 if verdict in (Verdict.FAIL, Verdict.XFAIL) else 1.0
    kept = () if verdict in (Verdict.SKIP, Verdict.ERROR) else ((0, Score("answer_correct", value)),)
    if verdict is Verdict.XPASS:
        values["xpass"] = ("answer_correct",)
    if verdict is Verdict.XFAIL:
        values["excused"] = (Excused("answer_correct", "known"),)
    n_trials = 0 if verdict is Verdict.SKIP else 1
    decision = Decision(verdict, "why", **values, n_trials=n_trials, n_passed=int(verdict is Verdict.PASS))
    return Graded(f"e{position}", position, decision, kept)


def report(database: Database, agent: str, verdicts: Sequence[Verdict | Graded]) -> None:
    found = [item if isinstance(item, Graded) else graded(item, index) for index, item in enumerate(verdicts)]
    scores.replace(database, RUN, agent, found, evaluators_digest="e1", dataset_digest="d1")


def board_of(
    database: Database, *, finish: bool = True, interrupted: bool = False, run: Any = None, **agents: Sequence[Any]
) -> Board:
    """The board of a run in which each agent reported these verdicts."""
    rows = [agent_row(agent=name, n_examples=len(of), n_selected=len(of)) for name, of in agents.items()]
    runs.start(database, run or run_row(selection={"agents": list(agents)}), rows)
    for name, of in agents.items():
        report(database, name, of)
    if finish:
        runs.finish(database, RUN, interrupted=interrupted)
    return build_board(database, RUN)


def row_of(database: Database, *verdicts: Verdict | Graded) -> AgentBoard:
    return board_of(database, sampler=verdicts).agents[0]


PASS, FAIL, ERROR, XFAIL, XPASS, SKIP = Verdict

# States


@pytest.mark.parametrize("red", [FAIL, ERROR, XPASS])
@pytest.mark.parametrize("n_passes", [0, 1, 1000])
def test_one_red_verdict_makes_an_agent_red_however_much_passed(red: Verdict, n_passes: int) -> None:
    assert agent_state({PASS: n_passes, red: 1}, n_passes + 1, ()) is State.RED


def test_an_agent_of_which_nothing_was_graded_is_unproven() -> None:
    assert agent_state({SKIP: 5}, 0, ()) is State.UNPROVEN
    assert agent_state({}, 0, ()) is State.UNPROVEN


def test_an_agent_is_green_when_what_was_graded_is_not_red() -> None:
    assert agent_state({PASS: 1, XFAIL: 1, SKIP: 1}, 2, ()) is State.GREEN


def test_a_problem_of_the_row_makes_it_red() -> None:
    assert agent_state({PASS: 1}, 1, ("did not report",)) is State.RED


@pytest.mark.parametrize("states", [states for n in (1, 2, 3) for states in combinations(State, n)])
def test_the_worst_row_is_the_state_of_the_board(states: tuple[State, ...]) -> None:
    worst_first = [State.RED, State.UNPROVEN, State.GREEN]
    assert board_state(states) is min(states, key=worst_first.index)


def test_a_board_without_rows_proves_nothing() -> None:
    """H55: nothing at all is not fine."""
    assert board_state([]) is State.UNPROVEN


# Rows


def test_errors_stay_in_the_denominator(database: Database) -> None:
    """H01, H47: 1 pass and 3 errors are 1/4 and red."""
    row = row_of(database, PASS, ERROR, ERROR, ERROR)
    assert (row.state, row.pass_rate) == (State.RED, 0.25)
    assert row.pass_rate_interval == wilson(1, 4)
    assert row.verdicts == {"PASS": 1, "FAIL": 0, "ERROR": 3, "XFAIL": 0, "XPASS": 0, "SKIP": 0}


def test_excused_failures_stay_in_the_denominator_and_are_no_passes(database: Database) -> None:
    row = row_of(database, PASS, XFAIL)
    assert (row.state, row.pass_rate) == (State.GREEN, 0.5)


def test_skips_leave_the_denominator_and_the_row_says_how_little_was_graded(database: Database) -> None:
    """H44: nearly everything skipped, the board says how little was graded."""
    row = row_of(database, PASS, *[SKIP] * 519)
    assert (row.n_graded, row.n_examples, row.verdicts["SKIP"], row.pass_rate) == (1, 520, 519, 1.0)
    assert row.pass_rate_interval == pytest.approx((0.2065, 1.0), abs=5e-5)


def test_an_agent_whose_examples_were_all_skipped_has_no_pass_rate(database: Database) -> None:
    row = row_of(database, SKIP, SKIP)
    assert (row.state, row.pass_rate, row.pass_rate_interval) == (State.UNPROVEN, None, (0.0, 1.0))


def test_an_error_is_not_graded(database: Database) -> None:
    assert row_of(database, PASS, ERROR, SKIP, FAIL).n_graded == 2


def test_means_say_over_how_many_scores_they_go(database: Database) -> None:
    """H02: the judge dies in the middle, the board shows scored out of total."""
    two = Graded("e1", 1, Decision(PASS), ((0, Score("answer_correct", 1.0)), (0, Score("rare", 0.5))))
    row = row_of(database, PASS, two, ERROR, FAIL)
    assert row.score_means == {"answer_correct": pytest.approx(2 / 3), "rare": 0.5}
    assert row.n_scored == {"answer_correct": 3, "rare": 1}


def test_judges_that_were_not_there_are_0_and_counted_apart(database: Database) -> None:
    """H08: an outage is 0 for the gate and told as what it is."""
    unanswered = Graded(
        "e1",
        1,
        Decision(FAIL, failed=("reply",), unanswered=("reply",)),
        ((0, Score("reply", 0.0, unanswered=True)),),
    )
    row = row_of(database, PASS, unanswered)
    assert (row.state, row.n_unanswered, row.score_means["reply"]) == (State.RED, 1, 0.0)


def test_every_fixed_key_is_counted_also_beside_a_failure(database: Database) -> None:
    beside = Graded("e1", 1, Decision(FAIL, failed=("a",), xpass=("b", "c")), ((0, Score("a", 0.0)),))
    row = row_of(database, XPASS, beside)
    assert (row.n_xpass_keys, row.verdicts["XPASS"], row.verdicts["FAIL"]) == (3, 1, 1)


def test_usage_seconds_and_endpoints_come_from_the_outcomes(database: Database) -> None:
    runs.start(database, run_row(), [agent_row()])
    local = ModelIdentity("local", "http://localhost:8080", None)
    for index, seconds in enumerate((1.0, 3.0)):
        spent = Usage(1, 100, 10, Decimal("0.10"))
        kept = outcome(f"e{index}", seconds=seconds, usage=spent, model=local)
        outcomes.add(database, [outcomes.encoded(kept)])
    (row,) = build_board(database, RUN).agents
    assert row.usage == {"input_tokens": 200, "output_tokens": 20, "cost_usd": "0.2"}
    assert row.seconds == {"p50": 2.0, "p95": pytest.approx(2.9)}
    assert row.endpoints == ("http://localhost:8080",)


def test_a_row_without_outcomes_has_spent_nothing(database: Database) -> None:
    row = row_of(database, SKIP)
    assert row.usage == {"input_tokens": 0, "output_tokens": 0, "cost_usd": "0"}
    assert row.seconds == {"p50": None, "p95": None}


# Boards


def test_one_red_agent_makes_the_board_red_and_the_others_keep_their_rows(database: Database) -> None:
    """H43: what is wrong with one agent leaves the others on the board."""
    board = board_of(database, a=[PASS], b=[FAIL], c=[SKIP])
    assert board.state is State.RED
    assert [(row.agent, row.state) for row in board.agents] == [
        ("a", State.GREEN),
        ("b", State.RED),
        ("c", State.UNPROVEN),
    ]


def test_all_scores_at_0_is_red_and_not_acceptable(database: Database) -> None:
    """H45, H53: the run itself went well and every score is 0: red, exit 1."""
    board = board_of(database, sampler=[FAIL, FAIL])
    assert board.state is State.RED
    assert not board.is_acceptable(strict=False)


def test_a_skip_is_acceptable_unless_strict(database: Database) -> None:
    """H11: an unset key is a SKIP, and strict does not accept it."""
    board = board_of(database, a=[PASS, SKIP], b=[PASS])
    assert (board.state, board.n_skipped) == (State.GREEN, 1)
    assert board.is_acceptable(strict=False)
    assert not board.is_acceptable(strict=True)


def test_an_agent_that_did_not_report_is_red(database: Database) -> None:
    runs.start(database, run_row(), [agent_row(n_examples=3, n_selected=3)])
    runs.finish(database, RUN, interrupted=False)
    (row,) = build_board(database, RUN).agents
    assert (row.state, row.problems) == (State.RED, ("did not report",))


def test_an_agent_that_has_no_row_at_all_is_red(database: Database) -> None:
    board = board_of(database, run=run_row(selection={"agents": ["a", "lost"]}), a=[PASS])
    assert [(row.agent, row.state, row.problems) for row in board.agents] == [
        ("a", State.GREEN, ()),
        ("lost", State.RED, ("did not report",)),
    ]
    assert board.state is State.RED


def test_examples_that_did_not_report_make_the_row_red(database: Database) -> None:
    """H16: 30 of 512 examples are missing."""
    runs.start(database, run_row(), [agent_row(n_examples=512, n_selected=512)])
    report(database, AGENT, [PASS] * 482)
    runs.finish(database, RUN, interrupted=False)
    board = build_board(database, RUN)
    assert board.agents[0].problems == ("30 of 512 examples did not report",)
    assert (board.state, board.partial) == (State.RED, True)


def test_a_broken_rule_about_an_agent_makes_its_row_red(database: Database) -> None:
    runs.start(database, run_row(), [agent_row(problems=("is in SKIPPED_AGENTS",))])
    report(database, AGENT, [PASS])
    assert build_board(database, RUN).agents[0].state is State.RED


def test_a_whole_finished_run_is_not_partial(database: Database) -> None:
    board = board_of(database, sampler=[PASS, SKIP])
    assert (board.partial, board.interrupted, board.state) == (False, False, State.GREEN)


def test_a_run_by_selection_is_partial_and_may_be_acceptable(database: Database) -> None:
    board = board_of(database, run=run_row(partial=True), sampler=[PASS])
    assert board.partial
    assert board.is_acceptable(strict=True)


def test_a_run_that_was_interrupted_is_partial_and_not_acceptable(database: Database) -> None:
    """H13: Ctrl-C does not end in success."""
    board = board_of(database, interrupted=True, sampler=[PASS])
    assert (board.partial, board.interrupted) == (True, True)
    assert not board.is_acceptable(strict=False)


def test_a_run_that_has_not_ended_is_partial_and_its_missing_examples_are_no_failure_yet(database: Database) -> None:
    runs.start(database, run_row(), [agent_row(n_examples=3, n_selected=3)])
    report(database, AGENT, [PASS])
    board = build_board(database, RUN)
    assert (board.partial, board.state, board.agents[0].problems) == (True, State.GREEN, ())


def test_a_verdict_over_fewer_trials_than_asked_for_makes_the_board_partial(database: Database) -> None:
    assert board_of(database, run=run_row(trials=3), sampler=[PASS, SKIP]).partial


def test_the_rows_of_packs_are_shown_apart_and_count_only_when_told(database: Database) -> None:
    board = board_of(database, **{"sampler": [PASS], "sampler@customers": [FAIL, SKIP]})
    assert (board.state, board.n_skipped) == (State.GREEN, 0)
    assert [row.counts for row in board.agents] == [True, False]
    told = build_board(database, RUN, packs_count=True)
    assert (told.state, told.n_skipped) == (State.RED, 1)


def test_a_pack_that_did_not_report_counts_only_when_told(database: Database) -> None:
    board = board_of(database, run=run_row(selection={"agents": ["sampler", "sampler@lost"]}), sampler=[PASS])
    assert board.state is State.GREEN
    assert build_board(database, RUN, packs_count=True).state is State.RED


def test_a_run_that_is_not_there_has_no_board(database: Database) -> None:
    with pytest.raises(ConfigError, match="there is no run none"):
        build_board(database, "none")


# Examples


def test_a_line_of_an_example_says_why(database: Database) -> None:
    decision = Decision(
        FAIL,
        "a 0.5",
        failed=("a",),
        excused=(Excused("b", "known"),),
        xpass=("c",),
        unanswered=("a",),
        hints=("hint",),
        n_trials=2,
        n_passed=1,
    )
    trials = ((0, Score("a", 1.0)), (1, Score("a", 0.5)), (0, Score("b", 0.0)))
    board = board_of(database, sampler=[Graded("sale-1", 0, decision, trials)])
    (line,) = board.examples
    assert (line.agent, line.id, line.verdict, line.reason) == (AGENT, "sale-1", FAIL, "a 0.5")
    assert line.scores == {"a": 0.5, "b": 0.0}
    assert [*map(tuple, (line.failed, line.excused, line.xpass, line.unanswered))] == [("a",), ("b",), ("c",), ("a",)]
    assert (line.hints, line.n_trials, line.n_passed) == (("hint",), 2, 1)


def test_examples_stand_in_the_order_of_their_datasets(database: Database) -> None:
    board = board_of(database, b=[PASS, PASS], a=[PASS])
    assert [(line.agent, line.id) for line in board.examples] == [("a", "e0"), ("b", "e0"), ("b", "e1")]


def test_the_board_as_json_has_the_promised_form(database: Database) -> None:
    value = json.loads(canonical_text(board_of(database, sampler=[PASS, SKIP, XFAIL]).as_json()))
    assert value.keys() >= {"run_id", "state", "partial", "model", "started_at", "finished_at", "agents", "examples"}
    assert (value["run_id"], value["state"], value["started_at"]) == (RUN, "GREEN", "2026-12-01T09:30:00+00:00")
    (row,) = value["agents"]
    promised = "agent state dataset_digest n_examples n_graded verdicts n_xpass_keys pass_rate pass_rate_interval"
    assert row.keys() >= {*promised.split(), "score_means", "usage", "seconds", "sensitivity"}
    assert list(row["usage"].values()) == ["0", 0, 0]
    line = value["examples"][2]
    assert (line["agent"], line["id"], line["verdict"]) == (AGENT, "e2", "XFAIL")
    assert (line["scores"], line["failed"], line["excused"], line["xpass"]) == (
        {"answer_correct": 0.0},
        [],
        ["answer_correct"],
        [],
    )


def test_a_run_that_has_not_ended_has_no_end_in_its_json(database: Database) -> None:
    board = board_of(database, finish=False, sampler=[PASS])
    assert board.as_json()["finished_at"] is None
    assert board.started_at == NOW
    assert board.started_at.utcoffset() == timedelta(0)


def test_an_example_that_never_ran_is_not_counted_by_status(database: Database) -> None:
    """The verdicts decide, not what the runner left: a completed outcome without a verdict is not graded."""
    runs.start(database, run_row(), [agent_row()])
    outcomes.add(database, [outcomes.encoded(outcome(status=Status.COMPLETED))])
    runs.finish(database, RUN, interrupted=False)
    (row,) = build_board(database, RUN).agents
    assert (row.n_graded, row.state) == (0, State.RED)

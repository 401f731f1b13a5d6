"""The board on a terminal, or as plain lines where there is none."""

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval_pipeline.board import AgentBoard, Board, ExampleBoard, State, TrialShare
from eval_pipeline.terminal import visible
from eval_pipeline.verdict import Verdict

STYLES = {
    "GREEN": "bold green",
    "RED": "bold red",
    "UNPROVEN": "bold yellow",
    "FAIL": "red",
    "ERROR": "red",
    "XPASS": "red",
    "XFAIL": "yellow",
    "SKIP": "yellow",
}
SAME_REASON = 5
"""Lines that are shown of one verdict with one reason; the rest is counted."""


def print_board(board: Board, console: Console) -> None:
    """Prints what was red, excused and skipped, then one row for each agent, then the state."""
    for line in _lines(board):
        console.print(line, soft_wrap=True)
    console.print(_table(board, plain=not console.is_terminal))
    console.print(_summary(board), soft_wrap=True)


def _lines(board: Board) -> Iterator[Text]:
    shown: Counter[tuple[Verdict, str]] = Counter()
    several = len(board.agents) > 1
    for item in board.examples:
        if item.verdict is Verdict.PASS:
            continue
        shown[item.verdict, item.reason] += 1
        if shown[item.verdict, item.reason] <= SAME_REASON:
            yield _line(item, several=several)
    for (verdict, reason), n in shown.items():
        if n > SAME_REASON:
            yield Text.assemble((f"[{verdict}]", STYLES[verdict]), f" {n - SAME_REASON} more: {visible(reason)}")


def _line(item: ExampleBoard, *, several: bool) -> Text:
    name = f"{item.agent}/{item.id}" if several and item.verdict is not Verdict.SKIP else item.id
    told = f" [{', '.join(item.excused)}]" if item.excused else ""
    flaky = f" ({item.n_passed} of {item.n_trials} trials passed)" if item.n_trials > 1 else ""
    return Text.assemble((f"[{item.verdict}]", STYLES[item.verdict]), f" {name}  {visible(item.reason)}{told}{flaky}")


def _table(board: Board, *, plain: bool) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, highlight=False)
    table.add_column("agent", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("graded of all", justify="right", no_wrap=True)
    table.add_column("pass rate", justify="right", no_wrap=True)
    for verdict in Verdict:
        table.add_column(verdict.value, justify="right", no_wrap=True)
    table.add_column("p50 / p95", justify="right", no_wrap=True)
    for row in board.agents:
        style = "" if plain else STYLES[row.state]
        table.add_row(
            row.agent if row.counts else f"{row.agent} (apart)",
            Text(row.state, style),
            f"{row.n_graded} of {row.n_examples}",
            _rate(row),
            *(str(row.verdicts[verdict]) for verdict in Verdict),
            _seconds(row),
        )
    return table


def _rate(row: AgentBoard) -> str:
    if row.pass_rate is None:
        return "-"
    low, high = row.pass_rate_interval
    return f"{row.pass_rate:.3f} ({low:.3f} to {high:.3f})"


def _seconds(row: AgentBoard) -> str:
    p50, p95 = row.seconds["p50"], row.seconds["p95"]
    return "-" if p50 is None or p95 is None else f"{p50 * 1000:.0f} / {p95 * 1000:.0f} ms"


def _trials(share: TrialShare, trials: int) -> str:
    low, high = share.interval
    told = f"{share.passed} of {share.of} trials passed ({low:.3f} to {high:.3f})"
    if not share.flaky:
        return told
    return f"{told}; flaky: {', '.join(f'{name} ({n} of {trials})' for name, n in share.flaky.items())}"


def _summary(board: Board) -> Text:
    parts: list[str | tuple[str, str]] = ["board ", (board.state, STYLES[board.state])]
    if board.partial:
        parts.append(" (partial)")
    parts.append(f"  run {board.run_id}  model: {board.model or 'none'}")
    for row in board.agents:
        parts.extend(f"\n{row.agent}: {visible(problem)}" for problem in row.problems)
        parts.extend(
            f"\n{row.agent}: the model answered at {endpoint}, which is not the provider's own endpoint"
            for endpoint in row.foreign_endpoints
        )
        if row.trials is not None:
            parts.append(f"\n{row.agent}: {_trials(row.trials, board.trials)}")
        if row.n_unanswered:
            parts.append(f"\n{row.agent}: the judge did not answer {row.n_unanswered} times (scored 0)")
    if board.state is State.UNPROVEN:
        names = [row.agent for row in board.agents if row.state is State.UNPROVEN]
        parts.append(f"\nunproven, since nothing was graded: {', '.join(names)}")
    return Text.assemble(*parts)

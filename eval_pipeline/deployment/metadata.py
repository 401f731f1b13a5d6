"""Metadata for the UI: numbers that it plots, tables of what is red. Only plain types, and never NaN."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import dagster as dg

from eval_pipeline.board import AgentBoard, Board, ExampleBoard
from eval_pipeline.dataset import Dataset
from eval_pipeline.rules import Offence
from eval_pipeline.verdict import Verdict

MAX_ROWS = 200
"""Rows of a table in the UI; the results database has all of them."""
MAX_REASON = 300
"""Characters of a reason in a table; ``trace`` shows it whole."""
FIRST = (Verdict.XPASS, Verdict.ERROR, Verdict.FAIL)
"""The order of what is red: a marker that hides nothing any more is told first."""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> dg.TableMetadataValue:
    """A table of text cells."""
    records = [
        dg.TableRecord({column: "" if cell is None else str(cell) for column, cell in zip(columns, row, strict=True)})
        for _, row in zip(range(MAX_ROWS), rows, strict=False)
    ]
    return dg.MetadataValue.table(records, schema=dg.TableSchema([dg.TableColumn(column) for column in columns]))


def numbers(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that can be plotted, as plain int and float."""
    plain = {
        key: float(value) if not isinstance(value, int) else int(value)
        for key, value in values.items()
        if value is not None
    }
    return {key: _short(value) for key, value in plain.items() if math.isfinite(value)}


def _short(value: float) -> float:
    return value if isinstance(value, int) else round(value, 6)


def offenders(offences: Sequence[Offence]) -> dict[str, Any]:
    """Count and table of offenders."""
    columns = ("example", "key", "what", "file")
    rows = [(item.example, item.key, item.message, item.file) for item in offences]
    filled = [n for n, name in enumerate(columns) if name == "what" or any(row[n] for row in rows)]
    shown = table([columns[n] for n in filled], ([row[n] for n in filled] for row in rows))
    return {"n_offenders": len(offences), "offenders": shown}


def about_dataset(dataset: Dataset) -> dict[str, Any]:
    """How many examples there are, in which files, how many have recorded defects, and their version."""
    files = Counter(dataset.sources[example.id].name for example in dataset.examples)
    return {
        "n_examples": len(dataset.examples),
        "n_known_defects": sum(bool(example.known_defects) for example in dataset.examples),
        "files": table(("file", "examples"), files.items()),
        "digest": dataset.digest,
    }


def agent_numbers(row: AgentBoard) -> dict[str, Any]:
    """What the UI draws as trend lines for one agent."""
    return numbers(
        {
            "n_examples": row.n_examples,
            "n_graded": row.n_graded,
            "pass_rate": row.pass_rate,
            "pass_rate_low": row.pass_rate_interval[0],
            **{f"n_{name.lower()}": n for name, n in row.verdicts.items()},
            **{f"mean_{key}": mean for key, mean in row.score_means.items()},
            "seconds_p50": row.seconds["p50"],
            "seconds_p95": row.seconds["p95"],
            "input_tokens": row.usage["input_tokens"],
            "output_tokens": row.usage["output_tokens"],
            "cost_usd": float(row.usage["cost_usd"]),
        }
    )


def red_examples(
    board: Board, agent: str | None = None, before: Mapping[tuple[str, str], str] | None = None
) -> dg.TableMetadataValue:
    """What is red, fixed defects first, with the reason; those of an agent that are alike in one row.

    ``before``: verdicts of an earlier run, by agent and example, that are told where they were others.
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    red = [item for item in board.examples if item.verdict.is_red and agent in (None, item.agent)]
    for item in sorted(red, key=lambda item: FIRST.index(item.verdict)):
        verdict = _verdict(item, (before or {}).get((item.agent, item.id)))
        alike.setdefault((verdict, item.agent, item.reason), []).append(item.id)
    rows = (
        (verdict, f"{name}/{ids[0]}{f' and {len(ids) - 1} more' if ids[1:] else ''}", _cut(reason))
        for (verdict, name, reason), ids in alike.items()
    )
    return table(("verdict", "example", "why"), rows)


def _verdict(item: ExampleBoard, before: str | None) -> str:
    return _unbroken(f"{item.verdict} (was {before})") if before not in (None, item.verdict) else item.verdict.value


def _unbroken(text: str) -> str:
    """The text on one line: the UI breaks cells at every space before it takes width from a column of short names."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _cut(reason: str) -> str:
    return reason if len(reason) <= MAX_REASON else f"{reason[:MAX_REASON]}…"


def board_table(board: Board) -> dg.TableMetadataValue:
    """The board, one row an agent; of verdicts those that there are."""
    rows = (
        (
            row.agent if row.counts else f"{row.agent} (apart)",
            row.state,
            _unbroken(f"{row.n_graded} of {row.n_examples}"),
            "" if row.pass_rate is None else f"{row.pass_rate:.3f}",
            _unbroken(", ".join(f"{n} {verdict}" for verdict, n in row.verdicts.items() if n)),
        )
        for row in board.agents
    )
    return table(("agent", "state", "graded", "passed", "verdicts"), rows)


def problem_table(board: Board) -> dg.TableMetadataValue:
    """What makes rows red by itself, and endpoints that are not the provider's own."""
    foreign = "the model answered at {}, which is not the provider's own endpoint"
    rows = (
        (row.agent, told)
        for row in board.agents
        for told in (*row.problems, *(foreign.format(endpoint) for endpoint in row.foreign_endpoints))
    )
    return table(("agent", "problem"), rows)


def board_numbers(board: Board) -> dict[str, Any]:
    """What the UI draws as trend lines for the board; rows that do not count (of packs) are left out."""
    rows = [row for row in board.agents if row.counts]
    total = {verdict: sum(row.verdicts[verdict] for row in rows) for verdict in Verdict}
    return numbers(
        {
            "n_red": sum(n for verdict, n in total.items() if verdict.is_red),
            **{f"n_{verdict.value.lower()}": n for verdict, n in total.items()},
            "n_graded": sum(row.n_graded for row in rows),
            "cost_usd": float(sum(Decimal(row.usage["cost_usd"]) for row in rows)),
            **{f"pass_{row.agent}": row.pass_rate for row in rows},
        }
    )

"""Metadata for the UI: numbers that it plots, tables of what is red. Only plain types, and never NaN."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from eval_pipeline.board import AgentBoard, Board
from eval_pipeline.rules import Offence

MAX_ROWS = 200
"""Rows of a table in the UI; the results database has all of them."""


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
    return {key: value for key, value in plain.items() if math.isfinite(value)}


def offenders(offences: Sequence[Offence]) -> dict[str, Any]:
    """Count and table of offenders."""
    rows = ((item.example, item.key, item.message, item.file) for item in offences)
    return {"n_offenders": len(offences), "offenders": table(("example", "key", "what", "file"), rows)}


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


def red_examples(board: Board, agent: str | None = None) -> dg.TableMetadataValue:
    """The examples that are red, with the reason."""
    rows = (
        (f"{item.agent}/{item.id}", item.verdict, item.reason)
        for item in board.examples
        if item.verdict.is_red and agent in (None, item.agent)
    )
    return table(("example", "verdict", "why"), rows)


def board_table(board: Board) -> dg.TableMetadataValue:
    """The board, one row an agent."""
    columns = (
        "agent",
        "state",
        "graded of all",
        "pass rate",
        "PASS",
        "FAIL",
        "ERROR",
        "XFAIL",
        "XPASS",
        "SKIP",
        "problems",
    )
    rows = (
        (
            row.agent,
            row.state,
            f"{row.n_graded} of {row.n_examples}",
            "" if row.pass_rate is None else f"{row.pass_rate:.3f}",
            *(row.verdicts[name] for name in columns[4:10]),
            "; ".join(row.problems),
        )
        for row in board.agents
    )
    return table(columns, rows)

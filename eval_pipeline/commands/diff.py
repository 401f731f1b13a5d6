"""``diff``: two runs side by side."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

from eval_pipeline.board import build_board
from eval_pipeline.comparison import Change, Comparison, compare
from eval_pipeline.errors import NOT_GREEN, OK, ConfigError
from eval_pipeline.results.database import Database
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage
from eval_pipeline.terminal import print_json, visible


def diff(before: str, after: str, out: Console, *, anyway: bool, as_json: bool) -> int:
    """Prints what changed; 1 when something is newly red.

    Raises ConfigError, with the reason, when the runs did not grade the same thing, unless ``anyway``.
    """
    with storage(settings()) as where, Database(where.database_url) as database:
        result = compare(build_board(database, before), build_board(database, after))
    if result.not_comparable and not anyway:
        raise ConfigError(f"the runs are not comparable: {'; '.join(result.not_comparable)} (--anyway compares them)")
    if as_json:
        print_json(out, asdict(result))
    else:
        _print(result, out)
    return NOT_GREEN if result.newly_red else OK


def _print(result: Comparison, out: Console) -> None:
    def line(text: str) -> None:
        out.print(visible(text), markup=False, soft_wrap=True)

    for reason in result.not_comparable:
        line(f"not comparable: {reason}")
    for title, changes in (
        ("newly red", result.newly_red),
        ("newly green", result.newly_green),
        ("changed", result.changed),
    ):
        for text in _changes(title, changes):
            line(text)
    for title, names in (("only before", result.only_before), ("only after", result.only_after)):
        if names:
            line(f"{title}: {', '.join(names)}")
    line(
        f"{len(result.newly_red)} newly red, {len(result.newly_green)} newly green, {len(result.changed)} changed"
        f" of {result.n_both} graded in both; exact McNemar p = {result.p_value:.4g}"
    )


def _changes(title: str, changes: Sequence[Change]) -> list[str]:
    return [
        f"{title}: {c.name}  {c.before} -> {c.after}  {c.reason}"
        + "".join(f"\n    {key}: {_number(before)} -> {_number(now)}" for key, before, now in c.scores)
        for c in changes
    ]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"

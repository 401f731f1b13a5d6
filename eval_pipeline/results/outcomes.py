"""Stored outcomes: written by COPY as soon as they are finished, read in pages through a server-side cursor."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import ServerCursor

from eval_pipeline.errors import ConfigError
from eval_pipeline.outcome import (
    NO_USAGE,
    OUTPUT_SCHEMA,
    Failure,
    FailureKind,
    ModelIdentity,
    Outcome,
    Span,
    Status,
    Usage,
)
from eval_pipeline.results.database import Database
from eval_pipeline.values import canonical_text

_COLUMNS = (
    "run_id, agent, example_id, trial, position, output_schema, status, inputs_digest, started_at, seconds, outputs,"
    " failure_kind, failure_message, failure_detail, skip_reason, model_calls, input_tokens, output_tokens, cost_usd,"
    " model_name, model_endpoint, model_returned_id, spans"
)
_COPY = f"copy results.outcomes ({_COLUMNS}) from stdin"
_WITHOUT_SPANS = _COLUMNS.removesuffix(", spans")
_READ = f"""
select {_WITHOUT_SPANS} from results.outcomes where run_id = %s and agent = %s order by position, trial
"""  # noqa: S608 - column names of this module
_READ_TRACES = f"""
select {_COLUMNS} from results.outcomes where run_id = %s and agent = %s order by position, trial
"""  # noqa: S608
_SELECT_ONE = f"select {_COLUMNS} from results.outcomes"  # noqa: S608

_PAGE = 500
"""Outcomes that are read at once: more would be little faster, and each may have megabytes of outputs."""
_PAGE_OF_TRACES = 20

Row = tuple[Any, ...]


def encoded(outcome: Outcome) -> Row:
    """An outcome as a row for COPY. Raises NotJson when its outputs or spans are not JSON.

    Text columns cannot hold NUL: in messages it is written as U+2400 (the symbol for it); in JSON it stays an escape.
    """
    failure, model, usage = outcome.failure, outcome.model, outcome.usage
    return (
        outcome.run_id,
        outcome.agent,
        outcome.example_id,
        outcome.trial,
        outcome.position,
        outcome.schema,
        outcome.status.value,
        outcome.inputs_digest,
        outcome.started_at,
        outcome.seconds,
        _outputs_text(outcome),
        failure.kind.value if failure else None,
        storable(failure.message) if failure else None,
        storable(failure.detail) if failure and failure.detail else None,
        None if outcome.skip_reason is None else storable(outcome.skip_reason),
        usage.model_calls,
        usage.input_tokens,
        usage.output_tokens,
        usage.cost_usd,
        storable(model.name) if model else None,
        storable(model.endpoint) if model else None,
        storable(model.returned_id) if model and model.returned_id is not None else None,
        canonical_text([_span(span) for span in outcome.spans]) if outcome.spans else "[]",
    )


def _outputs_text(outcome: Outcome) -> str | None:
    if outcome.outputs is None:
        return None
    return canonical_text(outcome.outputs) if outcome.outputs_text is None else outcome.outputs_text


def _span(span: Span) -> dict[str, Any]:
    """The fields of a span by name; ``asdict`` would copy all that it holds."""
    return {name: getattr(span, name) for name in Span.__slots__}


def storable(text: str) -> str:
    """Text that a Postgres text column can hold: no NUL, no lone surrogate."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\u2400").encode("utf-8", "backslashreplace").decode("utf-8")


def add(database: Database, rows: Iterable[Row]) -> None:
    """Writes encoded outcomes in one COPY and commits: what is in is durable, whatever the server's default is."""
    with database.transaction() as db:
        db.execute("set local synchronous_commit to on")
        with db.copy(_COPY) as copy:
            for row in rows:
                copy.write_row(row)


def finished(database: Database, run_id: str, agent: str) -> frozenset[tuple[str, int]]:
    """Which trials (example id, trial) have a stored outcome, errors included."""
    with database.transaction() as db:
        db.execute("select example_id, trial from results.outcomes where run_id = %s and agent = %s", (run_id, agent))
        return frozenset((row["example_id"], row["trial"]) for row in db.fetchall())


@dataclass(frozen=True, slots=True)
class Counts:
    """How many outcomes of an agent in a run are stored, and how many of them failed or were skipped."""

    stored: int
    failed: int
    skipped: int


def counted(database: Database, run_id: str, agent: str) -> Counts:
    """Counts the outcomes of an agent in a run."""
    with database.transaction() as db:
        db.execute(
            "select count(*) as stored, count(*) filter (where status = 'failed') as failed,"
            " count(*) filter (where status = 'skipped') as skipped"
            " from results.outcomes where run_id = %s and agent = %s",
            (run_id, agent),
        )
        return Counts(**(db.fetchone() or {}))


def drop_failed(database: Database, run_id: str, agent: str) -> None:
    """Forgets the outcomes in error, so that a resume runs them again."""
    with database.transaction() as db:
        db.execute(
            "delete from results.outcomes where run_id = %s and agent = %s and status = 'failed'", (run_id, agent)
        )


def read(database: Database, run_id: str, agent: str, *, with_spans: bool = False) -> Iterator[Outcome]:
    """The outcomes of an agent in the order of its dataset, trial by trial, without their spans when not asked for.

    Raises ConfigError for an outcome of another output schema: it is not read as something that it is not.
    """
    with database.transaction("outcomes") as db:
        if isinstance(db, ServerCursor):
            db.itersize = _PAGE_OF_TRACES if with_spans else _PAGE
        db.execute(_READ_TRACES if with_spans else _READ, (run_id, agent))
        for row in db:
            yield _outcome(row)


def read_one(database: Database, run_id: str, agent: str, example_id: str) -> Sequence[Outcome]:
    """All trials of one example, with their spans."""
    with database.transaction() as db:
        db.execute(
            f"{_SELECT_ONE} where run_id = %s and agent = %s and example_id = %s order by trial",
            (run_id, agent, example_id),
        )
        return tuple(_outcome(row) for row in db.fetchall())


def _outcome(row: dict[str, Any]) -> Outcome:
    if row["output_schema"] != OUTPUT_SCHEMA:
        raise ConfigError(
            f"outcome {row['agent']}/{row['example_id']} of run {row['run_id']} has output schema"
            f" {row['output_schema']}, this version reads {OUTPUT_SCHEMA}: run it again"
        )
    failure = None
    if row["failure_message"] is not None:
        failure = Failure(FailureKind(row["failure_kind"]), row["failure_message"], row["failure_detail"])
    model = None
    if row["model_name"] is not None:
        model = ModelIdentity(row["model_name"], row["model_endpoint"], row["model_returned_id"])
    return Outcome(
        row["run_id"],
        row["agent"],
        row["example_id"],
        row["trial"],
        row["position"],
        Status(row["status"]),
        row["inputs_digest"],
        row["started_at"],
        row["seconds"],
        row["outputs"],
        failure,
        row["skip_reason"],
        _usage(row),
        model,
        tuple(Span(**span) for span in row.get("spans", ())),
    )


def _usage(row: dict[str, Any]) -> Usage:
    usage = row["model_calls"], row["input_tokens"], row["output_tokens"], row["cost_usd"]
    return Usage(*usage) if any(usage) else NO_USAGE


_RESOURCES = """
select coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
       coalesce(sum(cost_usd), 0) as cost_usd,
       percentile_cont(0.5) within group (order by seconds) as p50,
       percentile_cont(0.95) within group (order by seconds) as p95,
       array_agg(distinct model_endpoint) filter (where model_endpoint is not null) as endpoints
from results.outcomes where run_id = %s and agent = %s and status <> 'skipped'
"""


def resources(database: Database, run_id: str, agent: str) -> dict[str, Any]:
    """Tokens, cost (US dollars), median and 95th percentile of seconds, and endpoints of an agent's outcomes."""
    with database.transaction() as db:
        db.execute(_RESOURCES, (run_id, agent))
        return db.fetchone() or {}


_VERSION = """
select count(*) as n, encode(sha256(convert_to(coalesce(string_agg(one, ' ' order by example_id, trial), ''), 'UTF8')),
                             'hex') as digest
from (
    select example_id, trial, example_id || '/' || trial || ' '
           || coalesce(encode(sha256(convert_to(outputs::text, 'UTF8')), 'hex'), status) as one
    from results.outcomes where run_id = %s and agent = %s
) as each
"""


def version(database: Database, run_id: str, agent: str) -> tuple[str, int]:
    """SHA-256 over all outputs of an agent in a run (of those without outputs: how they ended), and how many there are.

    The database makes it, from the canonical texts that it has: no outcome is read for it.
    """
    with database.transaction() as db:
        db.execute(_VERSION, (run_id, agent))
        row = db.fetchone() or {}
    return row["digest"], row["n"]


def failures(database: Database, run_id: str, agent: str, beginning: str) -> tuple[str, ...]:
    """The failures of an agent in a run whose message begins so, each with its example and trial."""
    with database.transaction() as db:
        db.execute(
            "select example_id, trial, failure_message from results.outcomes"
            " where run_id = %s and agent = %s and starts_with(failure_message, %s) order by position, trial",
            (run_id, agent, beginning),
        )
        return tuple(f"{row['example_id']}/{row['trial']}: {row['failure_message']}" for row in db.fetchall())

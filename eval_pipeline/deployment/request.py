"""The request of a run as a Dagster resource, so that the launchpad of the UI can ask what the command line can."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from eval_pipeline.errors import ConfigError
from eval_pipeline.pipeline import Plan, Request, make_plan, resumed
from eval_pipeline.prerequisites import model_name
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.selection import Selection
from eval_pipeline.settings import settings

ROOT_TAG = "eval/root_run"
REQUEST = "request"
"""The name of the resource."""
StepContext = dg.AssetExecutionContext | dg.OpExecutionContext


class RunRequest(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What is asked of a run; the defaults are everything, once, with the model of the environment."""

    select: list[str] = Field(default=[], description="AGENT or AGENT/EXAMPLE-GLOB; empty is everything")
    tags: list[str] = Field(default=[], description="only examples with one of these tags")
    last: str | None = Field(
        default=None, description="only examples whose last verdict was red, fail, error, xpass or skip"
    )
    limit: int | None = Field(default=None, description="at most so many examples of each agent")
    trials: int | None = Field(default=None, description="how often each example is run; once when empty")
    model: str | None = Field(default=None, description="the model for model-bound agents; EVAL_MODEL when empty")
    resume: str | None = Field(default=None, description="the id of a run to continue")
    retry_errors: bool = Field(default=False, description="with resume: run again what ended in ERROR")
    packs: list[str] = Field(default=[], description="folders of packs; those of EVAL_PACKS when empty")
    shards: int | None = Field(default=None, ge=1, description="shards of each agent; EVAL_SHARDS when empty")
    strict: bool | None = Field(default=None, description="a skip is an error; EVAL_STRICT when empty")

    @property
    def request(self) -> Request:
        """As the harness takes it."""
        selection = Selection(tuple(self.select), tuple(self.tags), self.last, self.limit)
        model = model_name(self.model or settings().model) if self.model or not self.resume else None
        packs = tuple(Path(folder) for folder in self.packs) or (() if self.resume else settings().pack_folders)
        return Request(selection, model, self.trials, self.resume, self.retry_errors, packs)

    @property
    def n_shards(self) -> int:
        """Into how many shards the examples of one agent are cut, where there are so many."""
        return settings().shards if self.shards is None else self.shards

    @property
    def is_strict(self) -> bool:
        """Whether skips are fatal in this run."""
        return settings().strict if self.strict is None else self.strict

    @contextmanager
    def database(self) -> Iterator[Database]:
        """A connection to the results, migrated."""
        url = settings().database_url
        if url is None:
            raise ConfigError("EVAL_DATABASE_URL is not set: start Dagster by eval-pipeline dev, or set it")
        with Database(url.get_secret_value()) as database:
            database.migrate()
            yield database

    def plan(self, context: StepContext, database: Database) -> Plan:
        """The plan of the run that a step belongs to."""
        request = resumed(database, self.request)
        return make_plan(database, self.root_run(context, database), request, settings())

    def root_run(self, context: StepContext, database: Database) -> str:
        """The root run of a step: of the run to resume, or of the Dagster run that this one retries, or itself."""
        if self.resume is not None:
            return resumed(database, self.request).resume or self.resume
        return context.run.root_run_id or context.run.run_id


def root_of_night(run: dg.DagsterRun, database: Database) -> str:
    """The root run that a run belongs to: by its tag, by the run that it was asked to resume, or as a retry."""
    resumes = asked_of(run).get("resume")
    if ROOT_TAG in run.tags:
        return run.tags[ROOT_TAG]
    if resumes and runs.exists(database, resumes):
        return runs.get(database, resumes).run_id
    return run.root_run_id or run.run_id


def is_strict(run: dg.DagsterRun, otherwise: bool) -> bool:
    """Whether a run was asked to be strict; ``otherwise`` where it was not said, as by hand."""
    given = asked_of(run).get("strict")
    return otherwise if given is None else bool(given)


def asked_of(run: dg.DagsterRun) -> dict[str, Any]:
    """What a run was asked for, as it was written in its configuration."""
    config: Any = run.run_config
    for part in ("resources", REQUEST, "config"):
        config = config.get(part) or {}
    return dict(config)

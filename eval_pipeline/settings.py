"""Settings: read once from the environment (prefix ``EVAL_``), never from a file in the repo."""

import os
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PROJECT = Path(__file__).resolve().parent.parent


class Settings(BaseSettings):
    """What a deployment can choose. Every field has a default that works on a fresh machine.

    URLs are secrets: they are shown only through ``describe_url``, which leaves the password out.
    """

    model_config = SettingsConfigDict(env_prefix="EVAL_", frozen=True, extra="ignore", env_ignore_empty=True)

    database_url: SecretStr | None = Field(None, description="Dagster's tables and the results; embedded when unset")
    ledger_url: SecretStr | None = Field(None, description="the ledger; embedded when unset")
    home: Path = Field(PROJECT / ".eval-pipeline", description="state of this machine: the embedded server, logs")
    datasets: Path = Field(PROJECT / "datasets", description="the folder with one folder for each agent")
    model: str | None = Field(None, description="the model that model-bound agents use, e.g. local")
    judge_model: str | None = Field(None, description="the model that judges replies; the default one with a key")
    concurrency: int = Field(8, ge=1, le=1000, description="examples of one agent in flight at once")
    timeout_s: float | None = Field(None, gt=0, description="time limit of one attempt; a target's own when unset")
    max_output_bytes: int = Field(8 * 1024 * 1024, ge=1024, description="outputs of one attempt, as JSON text")
    executor: Literal["in_process", "multiprocess", "celery", "k8s"] | None = Field(
        None, description="where steps run; unset: the command line in its process, the deployment in processes"
    )
    shards: int = Field(1, ge=1, le=1000, description="shards that the examples of one agent are cut into")
    celery_broker: SecretStr | None = Field(None, description="the broker of celery, e.g. redis://HOST:6379/0")
    celery_backend: SecretStr | None = Field(None, description="where celery keeps results; the broker when unset")
    celery_visibility_s: int = Field(
        60, ge=3, le=86400, description="seconds without a sign of life until a worker's shard goes to another"
    )
    packs: str = Field("", description="folders of packs, separated as PATH is")
    packs_count: bool = Field(False, description="packs count for the exit code and the gate")
    strict: bool = Field(False, description="a skip is fatal")
    nightly_cron: str | None = Field(None, description="when the night runs, as cron; the schedule is off when unset")
    nightly_strict: bool | None = Field(None, description="a skip is fatal at night; EVAL_STRICT when unset")
    keep_runs_days: int | None = Field(
        None, ge=8, description="days that Dagster's runs, their events and step logs are kept; for ever when unset"
    )
    keep_outcomes_days: int | None = Field(
        None, ge=8, description="days that outcomes, scores, boards and alerts are kept; for ever when unset"
    )
    alert_urls: tuple[SecretStr, ...] = Field((), description="where nights are told: addresses of apprise, JSON list")
    alert_interval_s: int = Field(30, ge=1, description="seconds between two looks for what is to be told")
    ui_url: str | None = Field(None, description="the address of the UI, for the link in alerts")
    source_url: str | None = Field(
        None, description="where the code can be read, for the UI's code links; unset: the files of this machine"
    )
    budget_usd: Decimal | None = Field(None, ge=0, description="what a night may cost; more is told")
    mask: tuple[str, ...] = Field((), description="what is personal: regular expressions, JSON list; never leaves")
    commit: str | None = Field(None, description="the commit that is deployed, where there is no repository to ask")
    time_zone: str = Field("UTC", description="the time zone of the night, e.g. Europe/Berlin")
    allowed_endpoints: tuple[str, ...] = Field(
        (), description="model endpoints that may gate besides the provider's own"
    )

    @property
    def is_in_process(self) -> bool:
        """Whether the command line runs the steps in its own process."""
        return self.executor in (None, "in_process")

    @property
    def is_night_strict(self) -> bool:
        """Whether skips are fatal in a night that the schedule began."""
        return self.strict if self.nightly_strict is None else self.nightly_strict

    @property
    def board_url(self) -> str | None:
        """The address of the board in the UI."""
        return None if self.ui_url is None else f"{self.ui_url.rstrip('/')}/assets/board"

    @property
    def pack_folders(self) -> tuple[Path, ...]:
        """The packs' folders."""
        return tuple(Path(item).expanduser().absolute() for item in self.packs.split(os.pathsep) if item)

    @field_validator("database_url", "ledger_url")
    @classmethod
    def _is_of_postgres(cls, url: SecretStr | None) -> SecretStr | None:
        from eval_pipeline.postgres import normalise_url

        if url is not None:
            normalise_url(url.get_secret_value())
        return url

    @field_validator("nightly_cron")
    @classmethod
    def _is_cron(cls, cron: str | None) -> str | None:
        if cron is not None and len(cron.split()) != 5:
            raise ValueError(f"{cron!r} is no cron expression of five fields, such as '30 2 * * *'")
        return cron

    @field_validator("mask")
    @classmethod
    def _are_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return patterns

    @field_validator("time_zone")
    @classmethod
    def _is_time_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"there is no time zone {name!r}; one is called Europe/Berlin, for example") from None
        return name

    @field_validator("home", "datasets")
    @classmethod
    def _absolute(cls, path: Path) -> Path:
        return path.expanduser().absolute()


@cache
def settings() -> Settings:
    """The settings of this process. Raises ConfigError that names the variable when one is not usable."""
    from pydantic import ValidationError

    from eval_pipeline.errors import ConfigError

    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(
            f"EVAL_{'.'.join(str(part) for part in item['loc']).upper()}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors()
        )
        raise ConfigError(wrong) from None

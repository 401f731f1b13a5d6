"""Where the steps of a run are executed: a setting (``EVAL_EXECUTOR``), Dagster's own engines behind it."""

import warnings
from typing import Any

import dagster as dg

from eval_pipeline.errors import ConfigError
from eval_pipeline.settings import Settings

PRELOADED = [
    "dagster_postgres",
    "eval_pipeline.definitions",
    "langgraph.graph",
    "psycopg_pool",
    "sqlalchemy.dialects.postgresql.psycopg2",
]
"""What the server that forks step processes has imported already: a step costs a quarter of what it costs spawned."""

EXTRAS = {"celery": "dagster_celery", "k8s": "dagster_k8s"}
"""Executors that not everybody needs: the extra's name, and the module that it brings."""


def executor_of(chosen: Settings) -> dg.ExecutorDefinition:
    """The executor of the definitions. Unset: processes, or in process when a run's configuration says so.

    Raises ConfigError that names the extra when an executor is not installed, the variable when a broker is missing.
    """
    if chosen.executor == "in_process":
        return dg.in_process_executor
    if chosen.executor == "multiprocess":
        return dg.multiprocess_executor.configured({"start_method": _forkserver()}, name="multiprocess")
    if chosen.executor == "celery":
        return _celery(chosen)
    if chosen.executor == "k8s":
        return _k8s()
    return dg.multi_or_in_process_executor.configured(
        forked_unless_told,
        name="multi_or_in_process_executor",
        config_schema=dg.multi_or_in_process_executor.config_schema.as_field(),
    )


def _forkserver() -> dict[str, Any]:
    return {"forkserver": {"preload_modules": PRELOADED}}


def forked_unless_told(config: dict[str, Any]) -> dict[str, Any]:
    """A run's execution config, with a fork server where it chose no way to start processes."""
    if "multiprocess" not in config:
        return config
    return {"multiprocess": {"start_method": _forkserver(), **config["multiprocess"]}}


def celery_config(chosen: Settings) -> dict[str, Any]:
    """Celery's settings, the same for who sends tasks and who works on them.

    A task is acknowledged when it is done, and each worker process holds one: what a worker that dies had goes back to
    the queue, at once when its parent lives, else after the visibility timeout.
    """
    return {
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_default_queue": "dagster",
        "task_default_priority": 5,
        "worker_prefetch_multiplier": 1,
        "worker_send_task_events": False,
        "broker_connection_retry_on_startup": True,
        "broker_transport_options": {
            "max_retries": 3,
            "interval_start": 0,
            "interval_step": 0.2,
            "interval_max": 0.5,
            "visibility_timeout": chosen.celery_visibility_s,
            "unacked_restore_interval": max(1, chosen.celery_visibility_s // 4),
            "unacked_restore_throttle": 1,
            "unacked_mutex_expire": chosen.celery_visibility_s,
        },
    }


def celery_executor_config(chosen: Settings) -> dict[str, Any]:
    """The executor's own configuration: addresses are named and not written out, since they are secrets."""
    backend = "EVAL_CELERY_BACKEND" if chosen.celery_backend else "EVAL_CELERY_BROKER"
    places = {"broker": {"env": "EVAL_CELERY_BROKER"}, "backend": {"env": backend}}
    return {**places, "config_source": celery_config(chosen)}


def _celery(chosen: Settings) -> dg.ExecutorDefinition:
    try:
        from celery.exceptions import DuplicateTaskNameWarning  # type: ignore[import-untyped]
        from dagster_celery import celery_executor
    except ModuleNotFoundError:
        raise _missing("celery") from None
    if chosen.celery_broker is None:
        raise ConfigError("EVAL_EXECUTOR=celery needs EVAL_CELERY_BROKER, e.g. redis://HOST:6379/0")
    # dagster-celery declares its task anew for each step that it sends.
    warnings.filterwarnings("ignore", category=DuplicateTaskNameWarning)
    return celery_executor.configured(celery_executor_config(chosen), name="celery")


def _k8s() -> dg.ExecutorDefinition:
    try:
        from dagster_k8s import k8s_job_executor  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        raise _missing("k8s") from None
    # Image, namespace, secrets and service account are those of the run's own pod (includeConfigInLaunchedRuns).
    configured: dg.ExecutorDefinition = k8s_job_executor
    return configured


def _missing(extra: str) -> ConfigError:
    return ConfigError(
        f"EVAL_EXECUTOR={extra} needs the package of that name: pip install 'eval-pipeline[{extra}]' ({EXTRAS[extra]})"
    )

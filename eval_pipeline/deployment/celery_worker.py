"""A celery worker: takes steps of runs from the broker and executes them.

What a worker that dies had in hand goes to another one, which resumes: outcomes that are stored are finished. Three
things are added to dagster-celery's own task: a step of a run that has ended is not executed; a step that took its
worker with it again and again ends the run instead of every worker in turn; and a task in hand gives a sign of life, so
that the visibility timeout is about dead workers and not about long shards.
"""

import os
import socket
from collections.abc import Mapping
from time import time
from typing import Any

from celery import Celery, Task, bootsteps, signals  # type: ignore[import-untyped]
from celery.utils.log import get_logger  # type: ignore[import-untyped]
from dagster import DagsterEventType, DagsterInstance
from dagster._grpc.types import ExecuteStepArgs
from dagster._serdes import unpack_value
from dagster_celery.make_app import make_app
from dagster_celery.tasks import create_task
from kombu.exceptions import OperationalError

from eval_pipeline.deployment.executors import celery_config
from eval_pipeline.deployment.watch import WATCH
from eval_pipeline.errors import ConfigError, one_line
from eval_pipeline.process_child import die_with
from eval_pipeline.settings import Settings

MAX_STARTS = 3
"""How often a step may begin and be heard of no more; then it is taken to be what kills its workers."""

ANSWER_S = 3.0
"""How long a broker is waited for by a command that is about to run."""

_LOGGER = get_logger(__name__)


class StepLost(Exception):
    """A step began several times and its worker was gone each time."""


class StepTask(Task):  # type: ignore[misc]
    """Executes one step of a run, as dagster-celery does."""

    def __call__(self, execute_step_args_packed: Any, executable_dict: Mapping[str, Any]) -> Any:
        """Gives the step's serialised events; none for a run that has ended. Raises StepLost."""
        step = unpack_value(execute_step_args_packed, as_type=ExecuteStepArgs)
        (key,) = step.step_keys_to_execute or ("",)
        with DagsterInstance.from_ref(step.instance_ref) as instance:  # type: ignore[arg-type]
            run = instance.get_run_by_id(step.run_id)
            if run is None or run.is_finished:
                _LOGGER.warning("step %s is not executed: run %s has ended", key, step.run_id)
                return []
            if (self.request.delivery_info or {}).get("redelivered"):
                _require_hope(instance, step.run_id, key)
        WATCH.interrupted.clear()  # of an earlier run in this process
        return self.run(execute_step_args_packed, executable_dict)


def _require_hope(instance: DagsterInstance, run_id: str, key: str) -> None:
    kinds = {
        DagsterEventType.STEP_START: 1,
        DagsterEventType.STEP_RESTARTED: 1,
        DagsterEventType.STEP_UP_FOR_RETRY: -1,
    }
    events = (entry.dagster_event for entry in instance.all_logs(run_id, of_type=set(kinds)))
    begun = sum(kinds[event.event_type] for event in events if event is not None and event.step_key == key)
    if begun >= MAX_STARTS:
        raise StepLost(f"step {key} began {begun} times, and its worker was gone each time")


class _SignOfLife(bootsteps.StartStopStep):  # type: ignore[misc]
    """Moves the hour at which tasks in hand go back to the queue, as long as this worker lives.

    With Redis alone: other brokers know by the connection whether a worker lives.
    """

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self.timer: Any = None

    def start(self, parent: Any) -> None:
        every_s = parent.app.conf.broker_transport_options["visibility_timeout"] / 4
        self.timer = parent.timer.call_repeatedly(every_s, _prolong, (parent,))

    def stop(self, parent: Any) -> None:  # noqa: ARG002 - celery's signature
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def _prolong(consumer: Any) -> None:
    channel = consumer.task_consumer.channel
    in_hand = list(channel.qos._delivered)  # kombu has no public name for it
    index = getattr(channel.qos, "unacked_index_key", None)
    if index is None or not in_hand:
        return
    with channel.conn_or_acquire() as client:
        client.zadd(index, dict.fromkeys(in_hand, time()), xx=True)


def _die_with_the_worker(**_: Any) -> None:
    die_with(os.getppid())


def n_workers(chosen: Settings) -> int:
    """How many workers answer within a second; busy ones answer too. Raises ConfigError when the broker does not."""
    app = worker_app(chosen)
    with app.connection_for_write(connect_timeout=ANSWER_S) as connection:
        try:
            connection.ensure_connection(max_retries=1, timeout=ANSWER_S)
        except OperationalError as error:
            where = f"{connection.hostname}:{connection.port}"
            raise ConfigError(f"no broker answers at {where} (EVAL_CELERY_BROKER): {one_line(error)}") from None
        return len(app.control.ping(timeout=1.0, connection=connection) or ())


def worker_app(chosen: Settings) -> Celery:
    """The celery application of a worker. Raises ConfigError when there is no broker."""
    if chosen.celery_broker is None:
        raise ConfigError("a worker needs EVAL_CELERY_BROKER, e.g. redis://HOST:6379/0")
    backend = chosen.celery_backend or chosen.celery_broker
    app = make_app(  # type: ignore[no-untyped-call]
        {
            "broker": chosen.celery_broker.get_secret_value(),
            "backend": backend.get_secret_value(),
            "config_source": celery_config(chosen),
        }
    )
    create_task(app, base=StepTask)  # type: ignore[no-untyped-call]
    app.steps["consumer"].add(_SignOfLife)
    signals.worker_process_init.connect(_die_with_the_worker, weak=False)
    return app


def work(chosen: Settings, processes: int) -> int:
    """Works until it is told to stop; gives celery's exit code. SIGTERM lets the steps in hand end first."""
    app = worker_app(chosen)
    arguments = ["--quiet", "worker", "--concurrency", str(processes), "--queues", "dagster", "--loglevel", "WARNING"]
    arguments += ["--hostname", f"eval-pipeline-{os.getpid()}@{socket.gethostname()}"]
    # Workers have nothing to say to one another.
    arguments += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    try:
        app.worker_main(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return 0

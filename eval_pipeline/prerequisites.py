"""What targets may need, and how each is looked for before a target starts. Missing is a SKIP with a reason."""

import os
from dataclasses import dataclass

from eval_pipeline.target import RunContext


@dataclass(frozen=True, slots=True)
class LedgerDatabase:
    """A Postgres that answers and carries the harness's marker: the examples write, so no other one is touched."""

    def missing(self, context: RunContext) -> str | None:
        """The reason why there is none, without a password; None when it is there."""
        from bookkeeping.ledger import Ledger, LedgerError
        from eval_pipeline.postgres import reachable

        if context.ledger_url is None:
            return "no ledger: set EVAL_LEDGER_URL"
        reason = reachable(context.ledger_url)
        if reason is not None:
            return reason
        try:
            with Ledger.connect(context.ledger_url, pool_size=1) as ledger:
                if ledger.has_marker():
                    return None
        except LedgerError as error:
            return f"the ledger cannot be used: {error}"
        return "the ledger database is not marked for evals: run eval-pipeline init-ledger on an empty one"


LEDGER = LedgerDatabase()


@dataclass(frozen=True, slots=True)
class ModelPrerequisite:
    """A model: the one that was chosen, or the default one when the environment has a key."""

    def missing(self, context: RunContext) -> str | None:
        """The reason why there is none. Raises ConfigError for a name that no model has: that is a wrong call."""
        from bookkeeping.models import UnknownModel, why_missing
        from eval_pipeline.errors import ConfigError

        try:
            return why_missing(context.model, os.environ)
        except UnknownModel as error:
            raise ConfigError(str(error)) from None


MODEL = ModelPrerequisite()


def one_at_a_time_in_process(context: RunContext) -> int | None:
    """How many attempts make sense at once with the run's model: one, when it answers in this process."""
    from bookkeeping.models import is_in_process

    return 1 if is_in_process(model_name(context.model)) else None


def model_name(asked: str | None) -> str | None:
    """The full name of the model that a name leads to: ``local`` is short for ``local/smollm2-135m``.

    With a key and no choice it is the default model; None when there is neither. A name that no model has stays as it
    is: only an agent that needs a model refuses it.
    """
    from bookkeeping.models import UnknownModel, full_name

    try:
        return full_name(asked, os.environ)
    except UnknownModel:
        return asked

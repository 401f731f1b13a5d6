"""The one error of this package."""

from eval_pipeline.errors import EvalPipelineError


class PostgresUnavailable(EvalPipelineError):
    """No Postgres to work with. The message names what is missing, where, and what to do; it never holds a password."""

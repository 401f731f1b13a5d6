"""The results database: every finished outcome, score, verdict and board, read alike by the command line and Dagster.

All of it is keyed by the *root* run: a resumed run writes beside what its root left. SQL only, parameterised; bulk data
goes in by COPY. One file for each thing that is kept: ``runs``, ``outcomes``, ``scores``, ``boards``.
"""

from eval_pipeline.results.database import Database

__all__ = ["Database"]

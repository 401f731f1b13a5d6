"""Whether two addresses lead to one database, however they are spelled."""

import secrets
from contextlib import closing

from eval_pipeline.postgres.url import normalise_url

CONNECT_TIMEOUT_S = 5


def is_same_database(one: str, other: str) -> bool:
    """Whether both URLs lead to the same database.

    ``localhost`` and ``127.0.0.1``, a socket and a port, a pooler and its server are different texts, so the databases
    themselves are asked: an advisory lock (Postgres manual, 13.3.5) taken through one address is seen through the other
    only when both are one. Where one of them does not answer, it cannot be said and the answer is no.
    """
    if normalise_url(one) == normalise_url(other):
        return True
    import psycopg  # slow to import, and most commands name one address at most

    key = secrets.randbits(63)
    try:
        with (
            closing(psycopg.connect(normalise_url(one), connect_timeout=CONNECT_TIMEOUT_S)) as first,
            closing(psycopg.connect(normalise_url(other), connect_timeout=CONNECT_TIMEOUT_S)) as second,
        ):
            first.execute("select pg_advisory_lock(%s)", (key,))
            row = second.execute("select pg_try_advisory_lock(%s)", (key,)).fetchone()
            return row is not None and row[0] is False
    except psycopg.Error:
        return False

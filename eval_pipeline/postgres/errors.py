"""The one error of this package."""


class PostgresUnavailable(Exception):
    """No Postgres to work with. The message names what is missing, where, and what to do; it never holds a password."""

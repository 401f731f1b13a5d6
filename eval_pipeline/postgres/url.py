"""What is asked of any Postgres, embedded or not, by its URL."""

import os
import re
import socket
import struct
from contextlib import suppress
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlsplit

from eval_pipeline.postgres.errors import PostgresUnavailable

DEFAULT_PORT = 5432
_PROTOCOL_3_0 = 196608
_TERMINATE = b"X\0\0\0\4"
_CANNOT_CONNECT_NOW = b"57P03"  # starting up, shutting down or in recovery
_DUPLICATES = ("42P04", "23505")  # both are how two CREATE DATABASE of one name meet


def normalise_url(url: str) -> str:
    """Returns the URL as libpq, psycopg and SQLAlchemy all read it: `postgresql://`, no driver.

    Raises ValueError, without the password, when it is no Postgres URL.
    """
    scheme, separator, rest = url.strip().partition("://")
    if not separator or scheme.partition("+")[0] not in ("postgres", "postgresql"):
        shown = scheme if separator else "text without ://"
        raise ValueError(f"not a Postgres URL ({shown}): write postgresql://USER:PASSWORD@HOST:PORT/DATABASE")
    return f"postgresql://{rest}"


def dagster_url(url: str) -> str:
    """Returns the URL for Dagster, which ships psycopg2, while SQLAlchemy 2.1 takes a bare URL for psycopg 3."""
    return normalise_url(url).replace("postgresql://", "postgresql+psycopg2://", 1)


def with_database(url: str, name: str) -> str:
    """Returns the URL of another database on the same server."""
    scheme, rest = normalise_url(url).split("://", 1)
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    query = rest.partition("?")[2]
    return f"{scheme}://{authority}/{quote(name, safe='')}" + (f"?{query}" if query else "")


def reachable(url: str, timeout_s: float = 3) -> str | None:
    """Returns None when a Postgres answers there, else the reason in words, without the password.

    Answering is all that is asked: a server that wants another password or lacks the database is reachable, and
    says the rest itself when it is connected to. With several hosts, one that answers is enough.
    """
    try:
        parts = urlsplit(normalise_url(url))
        endpoints = _endpoints(parts)
    except ValueError as error:
        return (
            f"no Postgres reachable: {error}"
            if "not a Postgres URL" in str(error)
            else ("no Postgres reachable: the URL cannot be read, its port must be a number")
        )
    for host, port in endpoints:
        if _answers(host, port, parts, timeout_s):
            return None
    return "no Postgres reachable at " + ", ".join(_shown(host, port) for host, port in endpoints)


def ensure_database(url_of_server: str, name: str) -> str:
    """Creates the database when it is missing and returns its URL.

    `url_of_server` names a database that exists. Safe when several commands do it at once. Raises
    PostgresUnavailable when the server does not answer or does not allow it.
    """
    import psycopg  # slow to import, and most commands never come here
    from psycopg import sql

    server = normalise_url(url_of_server)
    create = sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name))
    exists = "SELECT 1 FROM pg_database WHERE datname = %s"
    try:
        with psycopg.connect(server, autocommit=True, connect_timeout=10) as connection:
            if connection.execute(exists, (name,)).fetchone() is None:
                connection.execute(create)
    except psycopg.Error as error:
        if error.sqlstate in _DUPLICATES:
            return with_database(server, name)
        where = ", ".join(_shown(host, port) for host, port in _endpoints(urlsplit(server)))
        if error.sqlstate is None:
            why = reachable(server) or f"connecting to the Postgres at {where} failed: {_first_line(error)}"
            raise PostgresUnavailable(f"{why}; start it, or correct the URL") from error
        raise PostgresUnavailable(
            f'database "{name}" is missing at {where} and cannot be created: {_first_line(error)}; '
            "create it, or give the user CREATEDB"
        ) from error
    return with_database(server, name)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _endpoints(parts: SplitResult) -> list[tuple[str, int]]:
    """The (host or socket folder, port) pairs of a URL, read as libpq reads them; ValueError for a bad port."""
    query = parse_qs(parts.query)
    authority = parts.netloc.rpartition("@")[2]
    pairs = [_host_port(item) for item in authority.split(",")] if authority else []
    hosts = [host for host, _ in pairs]
    ports = [port for _, port in pairs]
    if "host" in query or "hostaddr" in query:
        hosts = (query.get("host") or query["hostaddr"])[-1].split(",")
    if "port" in query:
        ports = query["port"][-1].split(",")
    hosts = hosts or [os.environ.get("PGHOST", "")]
    default = os.environ.get("PGPORT", "") or str(DEFAULT_PORT)
    if len(ports) == 1:
        ports = ports * len(hosts)
    ports += [""] * (len(hosts) - len(ports))
    if not all((port or default).isdecimal() for port in ports):
        raise ValueError("the port of the URL is not a number")
    return [(host or "localhost", int(port or default)) for host, port in zip(hosts, ports, strict=False)]


def _host_port(item: str) -> tuple[str, str]:
    bracketed = re.fullmatch(r"\[([^]]*)\](?::(.*))?", item)
    if bracketed:
        return bracketed[1], bracketed[2] or ""
    host, _, port = item.partition(":")
    return unquote(host), port


def _shown(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _answers(host: str, port: int, parts: SplitResult, timeout_s: float) -> bool:
    """Speaks the first words of the protocol (Postgres manual, "Message Flow"): cheaper than importing a driver."""
    user = unquote(parts.username or "postgres")
    database = unquote(parts.path.lstrip("/")) or user
    names = b"".join(text.encode() + b"\0" for text in ("user", user, "database", database))
    start = struct.pack("!ii", len(names) + 9, _PROTOCOL_3_0) + names + b"\0"
    try:
        with _connect(host, port, timeout_s) as connection:
            connection.sendall(start)
            kind, length = struct.unpack("!ci", _read(connection, 5))
            if kind == b"E":
                # Its fields are C strings, each behind one letter; C is the SQLSTATE.
                fields = _read(connection, min(length - 4, 8192)).split(b"\0")
                states = [field[1:] for field in fields if re.fullmatch(rb"C[0-9A-Z]{5}", field)]
                return bool(states) and _CANNOT_CONNECT_NOW not in states
            is_postgres = bool(kind in (b"R", b"v"))
            with suppress(OSError):  # it has answered; leaving in good manners keeps a line out of its log
                connection.sendall(_TERMINATE)
                _read(connection, 65536)
            return is_postgres
    except (OSError, struct.error):
        return False


def _connect(host: str, port: int, timeout_s: float) -> socket.socket:
    if not host.startswith(("/", "@")):
        return socket.create_connection((host, port), timeout=timeout_s)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout_s)
    try:
        connection.connect(f"{host}/.s.PGSQL.{port}")
    except BaseException:
        connection.close()
        raise
    return connection


def _read(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            break
        received += chunk
    return received

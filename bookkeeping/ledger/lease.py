"""Leases: how the database knows that the owner of eval books is still there."""

import threading

from bookkeeping.ledger.connection import Connection, connect, is_alive
from bookkeeping.ledger.errors import database_errors


class Leases:
    """Session-level advisory locks on a connection of their own, shared by all who act for one owner.

    A process that is killed loses its session, and with it the lease: its books are abandoned.
    """

    def __init__(self, conninfo: str, host_port: str) -> None:
        self._conninfo = conninfo
        self._host_port = host_port
        self._guard = threading.Lock()
        self._session: Connection | None = None
        self._held: set[str] = set()

    def hold(self, owner: str) -> None:
        """Returns when this object holds the owner's lease. Raises LedgerUnavailable."""
        with self._guard, database_errors(self._host_port):
            if self._session is None or not is_alive(self._session):
                self._session = connect(self._conninfo)
                for lost in self._held:
                    self._take(self._session, lost)
            if owner not in self._held:
                self._take(self._session, owner)
                self._held.add(owner)

    def close(self) -> None:
        """Gives up every lease."""
        with self._guard:
            if self._session is not None:
                self._session.close()
                self._session = None
            self._held.clear()

    @staticmethod
    def _take(session: Connection, owner: str) -> None:
        session.execute("SELECT pg_advisory_lock_shared(ledger.lease_of(%s))", [owner])

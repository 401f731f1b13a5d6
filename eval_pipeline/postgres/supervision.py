"""What a command and the supervisor of its home have agreed on."""

from pathlib import Path

PORT = 5432  # names the socket file; no port of the machine is taken
USERS_LOCK = "postgres.users"  # held shared by every command that uses the server
SUPERVISOR_LOCK = "postgres.supervisor"  # held alone by the supervisor
LOG = "postgres.log"

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0

# The first word of a supervisor to the command that started it; anything else is the reason of a failure.
BUSY, READY = "busy", "ready"


def socket_url(sockets: Path) -> str:
    """Returns the URL of the server's own database; its port keeps a PGPORT of the environment out."""
    return f"postgresql://postgres@/postgres?host={sockets}&port={PORT}"

"""A process that has the libraries imported already and becomes, by fork, one command after another.

What is imported here is other people's code only: the project's own modules are read by each command for itself, from
the folder that it runs in. That saves half of what a command costs and changes nothing of what it does.

    python warm.py SOCKET     serves on the socket until its stdin ends

A request is one line of JSON: the command line after ``python -m``, its folder, its environment, and two files for what
it prints. The answer is the command's process id, a line, and, when it has ended, its exit code, a line.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import time
import traceback
from typing import Any

LIBRARIES = (
    "alembic.command",
    "anthropic",
    "dagster",
    "dagster_postgres",
    "jinja2",
    "langgraph.graph",
    "langgraph.runtime",
    "psycopg",
    "psycopg_pool",
    "pydantic_settings",
    "rfc8785",
    "rich.table",
    "sqlalchemy.dialects.postgresql.psycopg2",
    "typer",
)
OURS = ("bookkeeping", "eval_pipeline")


def serve(path: str) -> dict[str, Any]:
    """Takes requests until stdin ends. Returns only in the process that is to become a command, with its request."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            ready, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in ready:
                os._exit(0)
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                return waited_for(connection)
            connection.close()


def waited_for(connection: socket.socket) -> dict[str, Any]:
    """Forks the command, tells how it ends, and ends too. Returns in the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request = json.loads(connection.makefile("rb").readline())
    pid = os.fork()
    if pid == 0:
        connection.close()
        return dict(request)
    connection.sendall(f"{pid}\n".encode())
    _, status = os.waitpid(pid, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Makes this process what a fresh one would be, up to ``python -m``."""
    for number, (name, flags) in enumerate(
        (
            (os.devnull, os.O_RDONLY),
            (request["out"], os.O_WRONLY | os.O_CREAT),
            (request["err"], os.O_WRONLY | os.O_CREAT),
        )
    ):
        descriptor = os.open(name, flags)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    importlib.invalidate_caches()
    module, *arguments = request["arguments"]
    sys.argv = [module, *arguments]


def main() -> None:
    """Imports, serves, becomes a command and runs it to its end."""
    for name in LIBRARIES:
        importlib.import_module(name)
    ours = [name for name in sys.modules if name.partition(".")[0] in OURS]
    if ours:
        raise SystemExit(f"the project's own modules must be read anew by each command: {ours}")
    gc.collect()
    gc.freeze()  # what is shared with the children stays shared: their collector does not touch it
    request = serve(sys.argv[1])
    become(request)
    end(code_of(request["arguments"][0]))


def code_of(module: str) -> int:
    """Runs ``python -m module`` and gives its exit code, as the interpreter would."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else ended.code is not None
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(code: int) -> None:
    """Ends as the interpreter does: threads are waited for, exit functions run, what was printed is flushed.

    What is left out is taking apart all that was imported, which costs more than most commands do.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()

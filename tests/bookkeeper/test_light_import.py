"""Importing the agent's package costs nothing that a check of the datasets does not need."""

import subprocess
import sys


def test_the_package_imports_no_graph_library_and_no_database_driver() -> None:
    code = (
        "import sys, bookkeeping.agents.bookkeeper as agent\n"
        "import bookkeeping.agents.bookkeeper.record, bookkeeping.agents.bookkeeper.outputs\n"
        "import bookkeeping.agents.bookkeeper.rulebook as rules\n"
        "rules.rulebook()\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'langgraph', 'psycopg', 'dagster'}))\n"
        "print(agent.NAME, *agent.REASONING)\n"
        "print(callable(agent.build_graph), 'langgraph' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        "[]",
        "bookkeeper bookkeeping.agents.bookkeeper bookkeeping.ledger bookkeeping.documents bookkeeping.models",
        "True True",
    ]

"""Builds a pack for the Auditor out of somebody else's plain-text ledgers, and compares trial balances with theirs.

    python scripts/build_journals_pack.py --source DIR --out DIR [--ledger PROGRAM] [--bean-query PROGRAM]

DIR of ``--source`` has the folders ledger, howeyc and beancount; ``--out`` is the pack (``auditor/journals.json``).
Of each journal the transactions in its main currency become entries of one book, weighed at cost; what is in another
commodity, or finer than the currency, is counted as left out. With the programs named, the trial balance that each
computes from the same file is compared with ours, account by account, to the last digit. Exit codes: 0, 1 a trial
balance differs, 2 a wrong call.
"""

import argparse
import csv
import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from bookkeeping.ledger.currency import currency_scales
from eval_pipeline.dataset_format import formatted
from scripts.packs.journals import Balances, CannotRead, Transaction, amount, balances, read_beancount, read_ledger

CODES = {"$": "USD", "€": "EUR", "£": "GBP", "": "USD"}
ACCOUNTS = {"Assets": "1170", "Liabilities": "2040", "Equity": "3030", "Income": "4060", "Expenses": "6160"}
OTHER_ACCOUNT = "9010"
CHECKS = (
    "hash_tampered_row", "hash_deleted_row", "hash_reordered_rows", "hash_inserted_row", "hash_forked_chain",
    "hash_canonicalisation_mismatch", "hash_genesis_missing", "unbalanced_voucher", "trial_balance_mismatch",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds the pack and tells how the trial balances compare. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="build_journals_pack", description="Builds a pack out of plain-text ledgers.")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ledger", help="the program ledger, to compare with")
    parser.add_argument("--bean-query", help="the program bean-query, to compare with")
    call = parser.parse_args(arguments)
    files = sorted(path for path in call.source.glob("*/*") if path.suffix in (".dat", ".ledger", ".beancount"))
    if not files:
        parser.error(f"{call.source} holds no journal")
    examples: list[dict[str, Any]] = []
    compared: Counter[str] = Counter()
    for file in files:
        name = f"{file.parent.name}/{file.name}"
        try:
            made = transactions(file)
        except CannotRead as error:
            sys.stdout.write(f"{name}: cannot be read: {error}\n")
            continue
        examples += example(file, made)
        program = call.bean_query if file.suffix == ".beancount" else call.ledger
        if program:
            compared[compare(name, balances(iter(made)), file, program)] += 1
    target = call.out / "auditor" / "journals.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"agent": "auditor", "examples": examples}, ensure_ascii=False), "utf-8")
    target.write_text(formatted(target, "auditor"), "utf-8")
    told = ", ".join(f"{n} journals {what}" for what, n in sorted(compared.items()))
    sys.stdout.write(f"{len(examples)} examples in {call.out}; {told or 'no trial balance compared'}\n")
    return 1 if compared["differ"] else 0


def transactions(file: Path) -> list[Transaction]:
    """The transactions of a journal. Raises CannotRead."""
    read = read_beancount if file.suffix == ".beancount" else read_ledger
    return list(read(file.read_text("utf-8")))


def example(file: Path, made: list[Transaction]) -> list[dict[str, Any]]:
    """One example of a journal: a book in which nothing is wrong; none where nothing can be converted."""
    units = Counter(posting.weight_commodity for item in made for posting in item.postings)
    main_unit = next((unit for unit, _ in units.most_common() if CODES.get(unit, unit) in currency_scales()), None)
    if main_unit is None:
        sys.stdout.write(f"{file.parent.name}/{file.name}: no transaction in a currency\n")
        return []
    currency = CODES.get(main_unit, main_unit)
    entries = [
        entry for item in sorted(made, key=lambda item: item.day) if (entry := _entry(item, main_unit, currency))
    ]
    left_out = len(made) - len(entries)
    sys.stdout.write(f"{file.parent.name}/{file.name}: {len(entries)} entries, {left_out} transactions left out\n")
    if not entries:
        return []
    run = {"audit_date": entries[-1]["on"], "checks": list(CHECKS)}
    parameters = {"base": False, "currency": currency, "entries": entries}
    expected: dict[str, Any] = {"chain_status": "intact", "first_broken_height": None, "findings": [], "n_findings": 0}
    name = f"{file.parent.name}-{file.stem}"
    inputs = {"builder": "company", "parameters": parameters, "run": run}
    return [{"id": name, "inputs": inputs, "expected": expected, "tags": [file.parent.name]}]


def _entry(item: Transaction, unit: str, currency: str) -> dict[str, Any] | None:
    """The entry of a transaction, None for one in more than one currency or finer than the currency."""
    scale = currency_scales()[currency]
    booked = [(posting.account, posting.weight or Decimal(0)) for posting in item.postings if posting.weight]
    if len(booked) < 2 or any(posting.weight_commodity != unit for posting in item.postings):
        return None
    if any(weight != round(weight, scale) for _, weight in booked):
        return None
    if sum((weight for _, weight in booked), Decimal(0)):
        return None
    told = [f"{_code(account)} {'D' if weight > 0 else 'C'} {abs(weight):.{scale}f}" for account, weight in booked]

    return {"type": "journal_voucher", "on": item.day.isoformat(), "lines": ", ".join(told), "text": item.text}


def _code(account: str) -> str:
    return ACCOUNTS.get(account.partition(":")[0], OTHER_ACCOUNT)


def compare(name: str, ours: Balances, file: Path, program: str) -> str:
    """How a program's trial balance of a journal compares: agree, differ, refused; tells each account that differs."""
    theirs = _bean_query(file, program) if file.suffix == ".beancount" else _ledger(file, program)
    if theirs is None:
        sys.stdout.write(f"{name}: {program} refuses the file\n")
        return "refused"
    keys = sorted(ours.keys() | theirs.keys())
    different = [key for key in keys if ours.get(key, 0) != theirs.get(key, 0)]
    for account, unit in different:
        mine, other = ours.get((account, unit), 0), theirs.get((account, unit), 0)
        sys.stdout.write(f"{name}: {account} {unit}: {mine} here, {other} there\n")
    sys.stdout.write(f"{name}: {len(keys)} balances compared, {len(different)} differ\n")
    return "differ" if different else "agree"


def _output(command: list[str]) -> str | None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - as named
    return done.stdout if done.returncode == 0 else None


def _ledger(file: Path, program: str) -> Balances | None:
    shown = "%(account)\t%(join(scrub(amount)))\n"
    told = _output(
        [program, "-f", str(file), "balance", "--real", "--flat", "--no-total", "--unround", "--format", shown]
    )
    if told is None:
        return None
    found: Balances = {}
    for line in told.splitlines():
        account, _, totals = line.partition("\t")
        for text in totals.split("\\n"):
            quantity, unit = amount(text)
            found[account, unit] = quantity
    return {key: total for key, total in found.items() if total}


def _bean_query(file: Path, program: str) -> Balances | None:
    query = "SELECT account, currency, sum(number) GROUP BY account, currency"
    told = _output([program, "--format", "csv", "--no-errors", str(file), query])
    if told is None:
        return None
    rows = [row for row in csv.reader(io.StringIO(told)) if len(row) == 3][1:]
    return {(row[0].strip(), row[1].strip()): Decimal(row[2]) for row in rows if Decimal(row[2])}


if __name__ == "__main__":
    sys.exit(main())

"""Which account a line goes to (general.account_by)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bookkeeping.agents.bookkeeper.lines import ComputedLine
from bookkeeping.agents.bookkeeper.results import Refused
from bookkeeping.agents.bookkeeper.rule_file import General

DEFAULT: Final = "default"
_MAP_OF: Final[Mapping[str, str]] = {"money_to": "money", "money_from": "money"}
_OF_ORIGIN: Final = ("expense", "stock", "revenue", "receivable", "liability")
"""Maps that can say which account an earlier line went to, by the category of that line."""


def with_account(general: General, line: ComputedLine, categories: Mapping[str, str]) -> ComputedLine | Refused:
    """``line`` with the account that the record's categories lead to; without a key the account of the rule holds."""
    if line.account_by is None or line.account_by in ("fx", "voucher"):
        return line
    key = _key(line, categories)
    if line.account_by == "origin":
        return replace(line, account=_of_origin(general, line, key, categories))
    if key is None:
        return line
    accounts = general.maps[_MAP_OF.get(line.account_by, line.account_by)]
    names_account = key in accounts.values()  # the account itself, as a bank statement names it
    account = accounts.get(key, key if names_account else accounts.get(DEFAULT))
    if account is None:
        return Refused("unknown_category", f"{key!r} is no key of the {line.account_by} accounts.")
    return replace(line, account=account)


def _key(line: ComputedLine, categories: Mapping[str, str]) -> str | None:
    """The most particular key that the record states for ``line``."""
    if line.key is not None:
        return categories.get(line.key)
    own = categories.get(f"{line.account_by}_{line.mark}") if line.mark else None
    return own if own is not None else categories.get(line.account_by or "")


def _of_origin(general: General, line: ComputedLine, code: str | None, categories: Mapping[str, str]) -> str:
    """The account of the line that is credited, reversed, shared or revalued: a code, or the category it had."""
    if code is not None:
        return code
    for name in _OF_ORIGIN:
        category = categories.get(name)
        if category is not None and line.key is None:
            accounts = general.maps[name]
            return accounts.get(category, accounts.get(DEFAULT, line.account))
    return line.account

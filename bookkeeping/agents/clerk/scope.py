"""The scope gate, as far as rules can decide (data/scope.json). It reads the message and nothing else."""

import re
from collections.abc import Mapping
from functools import cache

from bookkeeping.agents.clerk.inputs import Company, Message, User
from bookkeeping.agents.clerk.tables import data, phrase_pattern
from bookkeeping.documents import folded

SHORTEST_NAME = 3
"""A part of a name of fewer letters is as likely to be an ordinary word."""

PLAIN_SCOPES = ("in_scope", "legal_advice", "investment_advice", "elsewhere")


def scope_by_rules(company: Company, message: Message) -> str | None:
    """The scope where what is found speaks for one alone, else None.

    An instruction to the Clerk decides whatever else is found.
    """
    text = folded(message.text)
    if _phrases()["hidden_instructions"].search(text):
        return "hidden_instructions"
    found = {scope for scope in PLAIN_SCOPES if _phrases()[scope].search(text)}
    if _phrases()["personal"].search(text):
        personal = _scope_of_personal(company, message, text)
        if personal is None:
            return None
        if personal == "other_peoples_data":
            found.discard("in_scope")  # a payslip is of the books, and still somebody else's
        found.add(personal)
    return next(iter(found)) if len(found) == 1 else None


def _scope_of_personal(company: Company, message: Message, text: str) -> str | None:
    """Of a message about pay, illness and the like: whose. None where it names nobody."""
    user = company.active_user(message.user)
    if user is not None and "payroll" in user.roles:
        return "in_scope"
    if any(_names(text, other) for other in company.users if other.id != message.user):
        return "other_peoples_data"
    return "in_scope" if user is not None and _phrases()["own"].search(text) else None


def _names(text: str, user: User) -> bool:
    """Whether the text names the user: by id, or by a part of the name."""
    words = set(re.findall(r"\w+", text))
    parts = [part for part in re.findall(r"\w+", folded(user.name)) if len(part) >= SHORTEST_NAME]
    return folded(user.id) in words or any(part in words for part in parts)


@cache
def _phrases() -> Mapping[str, re.Pattern[str]]:
    return {name: phrase_pattern(phrases) for name, phrases in data("scope").items()}

"""Whether texts have personal data that accounting has no need of (data/personal_data.json)."""

import re
from collections.abc import Iterable
from functools import cache

from bookkeeping.agents.clerk.tables import data, phrase_pattern
from bookkeeping.documents import folded, plain


def has_personal_data(texts: Iterable[str]) -> bool:
    """Whether one of them has it, by words in any case or by the form of a number."""
    words, numbers = _patterns()
    return any(words.search(folded(text)) or numbers.search(plain(text)) for text in texts)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = data("personal_data")
    words = phrase_pattern(word for group in table["words"].values() for word in group)
    return words, re.compile("|".join(f"(?:{pattern})" for pattern in table["patterns"].values()), re.ASCII)

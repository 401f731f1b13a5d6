"""Names that count on: net_a, net_b, net_c for the rates of a document, q1, q2 for the layers of an issue."""

import re
from dataclasses import dataclass
from functools import cache

_LETTERED = re.compile(r"(?P<base>[a-z_]+)_(?P<mark>[a-z])")
_NUMBERED = re.compile(r"(?P<base>[a-z]+)(?P<mark>[1-9])")


@dataclass(frozen=True, slots=True)
class Series:
    """A name taken apart: ``net_b`` is base "net", mark "b"; ``q2`` is base "q", mark "2"."""

    base: str
    mark: str

    @property
    def name(self) -> str:
        return f"{self.base}{self.mark}" if self.mark.isdecimal() else f"{self.base}_{self.mark}"

    @property
    def first_name(self) -> str:
        return self.with_mark("1" if self.mark.isdecimal() else "a").name

    def with_mark(self, mark: str) -> "Series":
        return Series(self.base, mark)


@cache
def series_of(name: str) -> Series | None:
    """The series that ``name`` belongs to, None for a name that stands alone."""
    match = _LETTERED.fullmatch(name) or _NUMBERED.fullmatch(name)
    return Series(match["base"], match["mark"]) if match else None

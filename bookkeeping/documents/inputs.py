"""Values as the agents' JSON inputs write them: strict, so that an input that is none is an error of the caller.

Not how papers write them: what is copied from a paper is read by coercion.
"""

import re
from datetime import date as Day
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

_DECIMAL = re.compile(r"-?[0-9]{1,24}(\.[0-9]{1,18})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _decimal(value: object) -> Decimal:
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return Decimal(value)
    raise ValueError(f"expected a decimal string such as '1190.00' (no grouping, no currency), got {value!r}")


def _day(value: object) -> object:
    if isinstance(value, str) and not _DAY.fullmatch(value):
        raise ValueError(f"expected a date as YYYY-MM-DD, got {value!r}")
    return value


DecimalString = Annotated[Decimal, BeforeValidator(_decimal)]
"""A decimal written as text; exact, of any sign."""

DayString = Annotated[Day, BeforeValidator(_day)]
"""A calendar day written YYYY-MM-DD."""


class InputValue(BaseModel):
    """A part of an input: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

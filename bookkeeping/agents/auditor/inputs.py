"""What an audit is given: which book, as of when, with which parameters, and the anchors from outside the database."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field


def _not_a_float(value: object) -> object:
    if isinstance(value, float):
        raise ValueError("write the amount as a decimal string")  # noqa: TRY004 - pydantic reports a ValueError
    return value


Amount = Annotated[Decimal, BeforeValidator(_not_a_float)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Anchor(_Model):
    """What somebody outside the database wrote down: the hash that a chain had at a position, and when."""

    chain: str
    seq: int = Field(ge=1)
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    time: AwareDatetime


class Exemption(_Model):
    """A finding that the run accepts, with its reason: those of a check with this value in this flag field."""

    check: str
    flag_field: str
    value: Any
    reason: str = Field(min_length=1)


class Run(_Model):
    """One audit.

    audit_date: the last day looked at for balances and ages.
    year_from: first day of the fiscal year audited; 1 January of the audit date's year when not given.
    materiality: in book currency; None is the default of the catalogue.
    parameters: by check, what replaces the catalogue's parameters.
    checks: only these; None is all.
    is_cash_basis: the book is kept on a cash basis, which has no cut-off.
    restores: times of recorded restores from a backup.
    """

    audit_date: date
    year_from: date | None = None
    materiality: Amount | None = None
    parameters: dict[str, dict[str, Any]] = {}
    checks: tuple[str, ...] | None = None
    exemptions: tuple[Exemption, ...] = ()
    is_cash_basis: bool = False
    restores: tuple[AwareDatetime, ...] = ()

    @property
    def first_day(self) -> date:
        """The first day of the fiscal year audited."""
        return self.year_from or self.audit_date.replace(month=1, day=1)

    @property
    def last_day(self) -> date:
        """The last day of the fiscal year audited."""
        return self.first_day.replace(year=self.first_day.year + 1) - timedelta(days=1)


class AuditorInputs(_Model):
    """All of it. ``anchors`` None or empty: none were given."""

    chain: str
    run: Run
    anchors: tuple[Anchor, ...] = ()

    def anchors_of(self, chain: str) -> tuple[Anchor, ...]:
        """The anchors of this chain by position; one of another tenant or environment says nothing about it."""
        return tuple(sorted((item for item in self.anchors if item.chain == chain), key=lambda item: item.seq))

    @property
    def latest_restore(self) -> datetime | None:
        """The time of the last recorded restore."""
        return max(self.run.restores, default=None)

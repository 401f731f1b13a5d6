"""Tax numbers of published examples and of well-known companies verify; with one digit changed they do not."""

import pytest

from bookkeeping.agents.auditor.vat_numbers import fault

RIGHT = [
    "ATU13585627", "BE0428759497", "CHE-100.155.212 MWST", "DE136695976", "DK13585628", "EE100931558", "EL094259216",
    "FI20774740", "FR40303265045", "GB980780684", "HR33392005961", "HU12892312", "IT00743110157", "LU15027442",
    "NL004495445B01", "NO995525828MVA", "PL8567346215", "PT501964843", "SE123456789701", "SI50223054", "SK2022749619",
]  # fmt: skip


@pytest.mark.parametrize("number", RIGHT)
def test_a_right_number_has_no_fault(number: str) -> None:
    assert fault(number, number[:2]) is None


@pytest.mark.parametrize("number", RIGHT)
def test_a_number_with_another_digit_fails_its_check(number: str) -> None:
    """Of the two digits that follow it, at least one is wrong by every rule (mod 97 and mod 11 among them)."""
    place = next(index for index, character in enumerate(number) if index > 3 and character.isdigit())
    changed = [number[:place] + str((int(number[place]) + step) % 10) + number[place + 1 :] for step in (1, 2)]
    assert "check_digit" in [fault(other, other[:2]) for other in changed]


@pytest.mark.parametrize(
    ("number", "country"),
    [("DE12345678", "DE"), ("DE1234567890", "DE"), ("ATX13585627", "AT"), ("IT0074311015", "IT"), ("12345", "DE")],
)
def test_a_number_of_another_form_is_malformed(number: str, country: str) -> None:
    assert fault(number, country) == "format"


def test_spaces_dots_and_hyphens_do_not_count() -> None:
    assert fault(" de 136.695-976 ", "DE") is None


def test_the_country_decides_where_the_number_has_no_prefix() -> None:
    assert fault("136695976", "DE") is None
    assert fault("136695977", "DE") == "check_digit"
    assert fault("094259216", "GR") is None


def test_northern_ireland_counts_as_great_britain_does() -> None:
    assert fault("XI980780684", "XI") is None


def test_a_country_of_which_nothing_is_known_is_not_judged() -> None:
    assert fault("US-123", "US") is None

"""The catalogue: all checks are there, and each statement says what its check has to say."""

import pytest

from bookkeeping.agents.auditor.catalogue import CHAIN, Check, catalogue, families
from bookkeeping.agents.auditor.finding import SEVERITIES

SQL = [check for check in catalogue() if check.family != CHAIN]


def test_there_are_forty_three_checks_in_nine_families() -> None:
    assert len(catalogue()) == len({check.id for check in catalogue()}) == 43
    assert families() == (
        "hash_chain", "balance", "duplicates", "digit_tests", "period", "controls", "accounts", "tax", "matching",
    )  # fmt: skip


@pytest.mark.parametrize("check", SQL, ids=[check.id for check in SQL])
def test_every_check_outside_the_chain_has_a_statement(check: Check) -> None:
    assert "%(book_id)s" in check.statement
    assert any(f"'{severity}'" in check.statement for severity in SEVERITIES)


@pytest.mark.parametrize("check", catalogue(), ids=[check.id for check in catalogue()])
def test_the_explanation_speaks_of_flag_fields_only(check: Check) -> None:
    told = check.explanation.format_map(dict.fromkeys(check.flag_fields, "?"))
    assert told.endswith(".")
    assert "{" not in told


@pytest.mark.parametrize("check", SQL, ids=[check.id for check in SQL])
def test_no_statement_ignores_a_parameter_that_it_could_be_given(check: Check) -> None:
    unused = [name for name in check.parameters if f"%({name})s" not in check.statement]
    # The tolerance of a line is one minor unit of the document's currency, which a parameter could only repeat.
    assert set(unused) <= {"tolerance_per_line", "tolerance_lines"}

"""Whatever the figures are, the work ends in balanced lines or in an answer with a known reason, and never raises."""

from dataclasses import replace
from datetime import date
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bookkeeping.agents.bookkeeper.compute import compute
from bookkeeping.agents.bookkeeper.lines import balance_of
from bookkeeping.agents.bookkeeper.record import BookState, Record
from bookkeeping.agents.bookkeeper.results import NothingToPost, Refused, Stop
from bookkeeping.agents.bookkeeper.rulebook import rulebook
from bookkeeping.agents.bookkeeper.select import Choice, select
from bookkeeping.agents.bookkeeper.understanding import BookTerms, book_terms, understand
from tests.bookkeeper.conftest import LARCH
from tests.bookkeeper.records import read, record_for

EXAMPLES = read("worked_examples.json")
FIGURES = {
    "amount": st.decimals(-10, 10**6, places=2),
    "percent": st.sampled_from(["-1", "0", "5.5", "7", "19", "33.33", "100", "101"]),
    "quantity": st.integers(-1, 500),
    "unit price": st.decimals(0, 10, places=4),
    "exchange rate": st.decimals(0, 3, places=4),
    "count": st.integers(-1, 14),
}


def terms() -> BookTerms:
    result = book_terms(rulebook(), BookState.model_validate(LARCH))
    assert isinstance(result, BookTerms)
    return result


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """A record for any variant, with any figures, and with any of what a record may call for on top."""
    example = draw(st.sampled_from(EXAMPLES))
    record = record_for(example["rule"], example["inputs"])
    figures = {}
    for name in example["inputs"]:
        meaning = rulebook().general.meaning_of(name)
        assert meaning is not None
        figures[name] = str(draw(FIGURES[meaning.kind]))
    further = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "fx": st.just("0.91337"),
                "deductible": st.just("37"),
                "adv_net": st.just("10.00"),
                "adv_vat": st.just("2.00"),
                "adv_net_book": st.just("9.00"),
                "payable": st.just("100.00"),
                "lines_count": st.just("3"),
            },
        )
    )
    stated = draw(st.dictionaries(st.sampled_from(["net", "vat", "gross", "payable", "vat_book"]), FIGURES["amount"]))
    end = draw(st.sampled_from([None, "2026-03-31", "2027-02-28"]))
    currency = draw(st.sampled_from([record["currency"], None, "USD", "JPY", "KWD"]))
    return record | {
        "amounts": further | figures,
        "stated": {name: str(value) for name, value in stated.items()},
        "currency": currency,
        "service_period_end": end,
    }


def lines_or_end(record: dict[str, Any]) -> Any:
    understood = understand(rulebook(), terms(), Record.model_validate(record))
    if isinstance(understood, Refused):
        return understood
    choice = select(rulebook(), replace(understood, posting_date=date(2026, 3, 4)))
    return compute(rulebook(), choice) if isinstance(choice, Choice) else choice


@settings(max_examples=300, deadline=None)
@given(records())
def test_any_figures_end_in_balanced_lines_or_in_a_reason(record: dict[str, Any]) -> None:
    result: Any | Stop = lines_or_end(record)
    if isinstance(result, Refused):
        assert result.reason in rulebook().general.results.reject
    elif isinstance(result, NothingToPost):
        assert result.reason in rulebook().general.results.nothing_to_post
    else:
        assert balance_of(result) == 0
        assert all(line.amount > 0 and (line.amount * 100).denominator == 1 for line in result)

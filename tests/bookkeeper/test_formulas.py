"""The language of the rules: read as an accountant reads it, computed exactly."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bookkeeping.agents.bookkeeper.formulas import (
    FigureOutOfRange,
    FormulaError,
    evaluate,
    holds,
    names_in,
    parse,
    parse_condition,
    rename,
    round_half_away,
    share,
)

scales = st.integers(0, 4)
exact = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**6)
decimals = st.decimals(min_value=-(10**9), max_value=10**9, places=6).map(str)


def value_of(text: str, scale: int = 2, **names: str) -> Fraction:
    return evaluate(parse(text), {name: Fraction(value) for name, value in names.items()}, scale)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("10-4-3", "3"),
        ("100/10/5", "2"),
        ("-2*-3", "6"),
        ("1/3*3", "1"),
        ("min(2,3)", "2"),
        ("max(0,2-5)", "0"),
        ("abs(2-5)", "3"),
        ("unit", "0.01"),
        ("r2(1/3)", "0.33"),
        ("r2(2/3)", "0.67"),
        ("share(100,3,1)", "33.33"),
        ("share(100,3,3)", "33.34"),
    ],
)
def test_a_formula_has_the_value_that_it_has_on_paper(text: str, expected: str) -> None:
    assert value_of(text) == Fraction(expected)


@pytest.mark.parametrize(
    ("value", "scale", "expected"),
    [
        ("60.325", 2, "60.33"),
        ("-60.325", 2, "-60.33"),
        ("0.005", 2, "0.01"),
        ("0.0049999999999999999999", 2, "0"),
        ("112.7", 0, "113"),
        ("112.5", 0, "113"),
        ("113.5", 0, "114"),
        ("1.2345", 3, "1.235"),
        ("815.955", 2, "815.96"),
        ("163.725", 2, "163.73"),
    ],
)
def test_halves_are_rounded_away_from_zero(value: str, scale: int, expected: str) -> None:
    assert round_half_away(Fraction(value), scale) == Fraction(expected)


@given(exact, scales)
def test_rounding_is_the_same_on_both_sides_of_zero(value: Fraction, scale: int) -> None:
    assert round_half_away(-value, scale) == -round_half_away(value, scale)


@given(exact, scales)
def test_rounding_moves_by_half_a_unit_at_most_and_to_whole_units(value: Fraction, scale: int) -> None:
    rounded = round_half_away(value, scale)
    assert (rounded * 10**scale).denominator == 1
    assert abs(rounded - value) <= Fraction(1, 2 * 10**scale)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=5), scales)
def test_rounding_agrees_with_the_decimal_module(value: Decimal, scale: int) -> None:
    expected = value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    assert round_half_away(Fraction(value), scale) == Fraction(expected)


@given(exact, st.integers(1, 60), scales)
def test_the_parts_of_a_share_add_up_to_the_total(total: Fraction, parts: int, scale: int) -> None:
    total = round_half_away(total, scale)
    shares = [share(total, Fraction(parts), Fraction(part), scale) for part in range(1, parts + 1)]
    assert sum(shares) == total
    assert len(set(shares[:-1])) <= 1


@pytest.mark.parametrize(("parts", "part"), [("12", "13"), ("12", "0"), ("12", "1.5"), ("0", "0"), ("-1", "-1")])
def test_a_part_that_is_not_there_has_no_value(parts: str, part: str) -> None:
    with pytest.raises(FigureOutOfRange):
        value_of("share(total,n,i)", total="100", n=parts, i=part)


def test_a_division_by_zero_has_no_value() -> None:
    with pytest.raises(FigureOutOfRange):
        value_of("1/x", x="0")


@given(decimals, decimals, decimals)
def test_arithmetic_is_exact(a: str, b: str, c: str) -> None:
    x, y, z = Fraction(a), Fraction(b), Fraction(c)
    assert value_of("a*b+c-a/7", a=a, b=b, c=c) == x * y + z - x / 7
    assert value_of("a-(b-c)", a=a, b=b, c=c) == x - (y - z)


@given(decimals, decimals)
def test_a_comparison_compares_exact_values(a: str, b: str) -> None:
    values = {"a": Fraction(a), "b": Fraction(b)}
    for comparison, expected in {
        "==": values["a"] == values["b"],
        "<=": values["a"] <= values["b"],
        ">=": values["a"] >= values["b"],
        "<": values["a"] < values["b"],
        ">": values["a"] > values["b"],
    }.items():
        assert holds(parse_condition(f"a{comparison}b"), values, 2) is expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1+",
        "(1",
        "1)",
        "1 2",
        "a b",
        "r2()",
        "r2(1,2)",
        "share(1,2)",
        "sqrt(4)",
        "1.5",
        "a**b",
        "a=b",
        "__import__('os')",
        "a;b",
        "a[0]",
        "+1",
    ],
)
def test_what_is_not_a_formula_is_an_error(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text)


@pytest.mark.parametrize("text", ["a", "a==", "a==b==c", "==b", "a<b<c"])
def test_what_is_not_a_condition_is_an_error(text: str) -> None:
    with pytest.raises(FormulaError):
        parse_condition(text)


def test_a_name_that_is_not_known_is_an_error_that_names_it() -> None:
    with pytest.raises(FormulaError, match="'gross'"):
        value_of("gross", net="1")


def test_names_are_those_that_are_read_without_the_unit() -> None:
    assert set(names_in(parse("r2(net*rate/100)+unit-min(a,-b)"))) == {"net", "rate", "a", "b"}


def test_renaming_touches_names_only() -> None:
    renamed = rename(parse("r2(net_b*rate_b/100)"), {"net_b": "net_c", "rate_b": "rate_c"})
    assert renamed == parse("r2(net_c*rate_c/100)")

"""The language of the posting rules: a parser and an exact interpreter.

Grammar (posting_rules, general.formulas)::

    condition  = sum ("==" | "<=" | ">=" | "<" | ">") sum
    sum        = product {("+" | "-") product}
    product    = factor {("*" | "/") factor}
    factor     = integer | name | "-" factor | "(" sum ")" | function "(" sum {"," sum} ")"
    function   = "r2" | "min" | "max" | "abs" | "share"

Arithmetic is rational (``fractions.Fraction``): nothing is rounded except where ``r2`` or ``share`` stands. ``unit`` is
one minor unit of the currency in which the formula is computed; ``r2`` rounds half away from zero to its scale.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

FUNCTIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "r2": (1,),
    "abs": (1,),
    "min": (2,),
    "max": (2,),
    "share": (3,),
}
"""Functions and how many arguments each takes."""

UNIT: Final = "unit"

_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z_][A-Za-z_0-9]*)|(==|<=|>=|[-+*/(),<>]))")
_OPERATORS: Final[Mapping[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_COMPARISONS: Final[Mapping[str, Callable[[Fraction, Fraction], bool]]] = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


class FormulaError(ValueError):
    """A formula that cannot be read, or that names a value which is not there: a fault of the rule."""


class FigureOutOfRange(ArithmeticError):
    """Figures for which a formula has no value: a division by zero, part 13 of 12."""


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Binary:
    operation: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Negative:
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple["Expression", ...]


Expression = Number | Name | Binary | Negative | Call


@dataclass(frozen=True, slots=True)
class Condition:
    left: Expression
    comparison: str
    right: Expression


def round_half_away(value: Fraction, scale: int) -> Fraction:
    """``value`` rounded to ``scale`` decimals, half away from zero (commercial rounding), so r2(-x) = -r2(x)."""
    scaled = abs(value) * 10**scale
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return Fraction(whole if value >= 0 else -whole, 10**scale)


def share(total: Fraction, parts: Fraction, part: Fraction, scale: int) -> Fraction:
    """Part ``part`` (from 1) of ``total`` in ``parts`` parts; the last takes the remainder, so they add up to total.

    Raises FigureOutOfRange unless both are whole and 1 <= part <= parts.
    """
    if parts.denominator != 1 or part.denominator != 1 or not 1 <= part <= parts:
        raise FigureOutOfRange(f"there is no part {part} of {parts}")
    regular = round_half_away(total / parts, scale)
    return regular if part < parts else total - (parts - 1) * regular


@cache
def parse(text: str) -> Expression:
    """The expression that ``text`` writes. Raises FormulaError with the place."""
    parser = _Parser(text)
    expression = parser.sum()
    parser.expect_end()
    return expression


@cache
def parse_condition(text: str) -> Condition:
    """The comparison that ``text`` writes. Raises FormulaError with the place."""
    parser = _Parser(text)
    left = parser.sum()
    comparison = parser.take()
    if comparison not in _COMPARISONS:
        raise FormulaError(f"expected a comparison, found {comparison or 'the end'!r} in {text!r}")
    condition = Condition(left, comparison, parser.sum())
    parser.expect_end()
    return condition


def evaluate(expression: Expression, values: Mapping[str, Fraction], scale: int) -> Fraction:
    """The exact value of ``expression``; ``scale`` is that of the currency in which it is computed.

    Raises FormulaError for a name that ``values`` does not have, FigureOutOfRange where there is no value.
    """
    match expression:
        case Number(value):
            return Fraction(value)
        case Name(name):
            return _lookup(name, values, scale)
        case Negative(operand):
            return -evaluate(operand, values, scale)
        case Binary(operation, left, right):
            divisor = evaluate(right, values, scale)
            if operation == "/" and divisor == 0:
                raise FigureOutOfRange("a division by zero")
            return _OPERATORS[operation](evaluate(left, values, scale), divisor)
        case Call(function, arguments):
            return _call(function, [evaluate(argument, values, scale) for argument in arguments], scale)


def holds(condition: Condition, values: Mapping[str, Fraction], scale: int) -> bool:
    """Whether ``condition`` is true for ``values``. Raises as evaluate."""
    left = evaluate(condition.left, values, scale)
    return _COMPARISONS[condition.comparison](left, evaluate(condition.right, values, scale))


def names_in(expression: Expression) -> Iterator[str]:
    """The names that ``expression`` reads, without ``unit``."""
    match expression:
        case Name(name):
            if name != UNIT:
                yield name
        case Negative(operand):
            yield from names_in(operand)
        case Binary(_, left, right):
            yield from names_in(left)
            yield from names_in(right)
        case Call(_, arguments):
            for argument in arguments:
                yield from names_in(argument)


def rename(expression: Expression, names: Mapping[str, str]) -> Expression:
    """``expression`` with every name that ``names`` maps replaced."""
    match expression:
        case Name(name):
            return Name(names.get(name, name))
        case Negative(operand):
            return Negative(rename(operand, names))
        case Binary(operation, left, right):
            return Binary(operation, rename(left, names), rename(right, names))
        case Call(function, arguments):
            return Call(function, tuple(rename(argument, names) for argument in arguments))
        case Number():
            return expression


def _lookup(name: str, values: Mapping[str, Fraction], scale: int) -> Fraction:
    if name == UNIT:
        return Fraction(1, 10**scale)
    if name not in values:
        raise FormulaError(f"{name!r} is not known here")
    return values[name]


def _call(function: str, arguments: list[Fraction], scale: int) -> Fraction:
    match function, arguments:
        case "r2", [value]:
            return round_half_away(value, scale)
        case "abs", [value]:
            return abs(value)
        case "min", [one, other]:
            return min(one, other)
        case "max", [one, other]:
            return max(one, other)
        case "share", [total, parts, part]:
            return share(total, parts, part, scale)
    raise FormulaError(f"no function {function} of {len(arguments)} arguments")


class _Parser:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._position = 0

    def peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def take(self) -> str:
        word = self.peek()
        self._position += 1
        return word

    def expect(self, word: str) -> None:
        found = self.take()
        if found != word:
            raise FormulaError(f"expected {word!r}, found {found or 'the end'!r} in {self._text!r}")

    def expect_end(self) -> None:
        if self.peek():
            raise FormulaError(f"unexpected {self.peek()!r} in {self._text!r}")

    def sum(self) -> Expression:
        expression = self.product()
        while self.peek() in ("+", "-"):
            expression = Binary(self.take(), expression, self.product())
        return expression

    def product(self) -> Expression:
        expression = self.factor()
        while self.peek() in ("*", "/"):
            expression = Binary(self.take(), expression, self.factor())
        return expression

    def factor(self) -> Expression:
        word = self.take()
        if word.isdecimal():
            return Number(int(word))
        if word == "-":
            return Negative(self.factor())
        if word == "(":
            inner = self.sum()
            self.expect(")")
            return inner
        if not word.isidentifier():
            raise FormulaError(f"expected a value, found {word or 'the end'!r} in {self._text!r}")
        return self.call(word) if self.peek() == "(" else Name(word)

    def call(self, function: str) -> Expression:
        if function not in FUNCTIONS:
            raise FormulaError(f"unknown function {function!r} in {self._text!r}")
        self.expect("(")
        arguments = [self.sum()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.sum())
        self.expect(")")
        if len(arguments) not in FUNCTIONS[function]:
            raise FormulaError(f"{function} does not take {len(arguments)} arguments in {self._text!r}")
        return Call(function, tuple(arguments))


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormulaError(f"cannot read {text[position:].strip()!r} in {text!r}")
        tokens.append(match.group().strip())
        position = match.end()
    return tokens

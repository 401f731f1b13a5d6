"""The rulebook: the posting rules read, checked and parsed, once per process.

A rule that cannot be used never gets to the engine: the error names the rule, the variant and the line.
"""

from collections.abc import Iterable
from functools import cache
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Final

from bookkeeping.agents.bookkeeper.formulas import Expression, FormulaError, names_in, parse, parse_condition
from bookkeeping.agents.bookkeeper.rule_file import (
    General,
    Row,
    RuleFileError,
    Verdict,
    WrittenDecision,
    WrittenLine,
    WrittenRequirement,
    WrittenRule,
    WrittenVariant,
    read_general,
    read_rules,
)
from bookkeeping.agents.bookkeeper.rules import Decision, Field, Requirement, Rule, Rulebook, RuleLine, Variant
from bookkeeping.agents.bookkeeper.tolerance import VAT_UNIT

FOLDER: Final = Path(__file__).with_name("posting_rules")


@cache
def rulebook() -> Rulebook:
    """The rules of this package, read once per process."""
    return load_rulebook(FOLDER)


def load_rulebook(folder: Path) -> Rulebook:
    """Reads and checks the rules in ``folder``. Raises RuleFileError."""
    general = read_general(folder)
    rules: dict[str, Rule] = {}
    for written in read_rules(folder):
        if written.doc_type in rules:
            raise RuleFileError(f"{written.doc_type}: written twice")
        rules[written.doc_type] = _rule(written, general)
    book = Rulebook(general, MappingProxyType(rules))
    for rule in rules.values():
        if rule.negative_is is not None and rule.negative_is.doc_type not in rules:
            raise RuleFileError(f"{rule.doc_type}: negative_is leads to no rule")
        _check_decision(rule, book)
    return book


def _rule(written: WrittenRule, general: General) -> Rule:
    variants: dict[str, Variant] = {}
    for variant in written.variants:
        where = f"{written.doc_type}.{variant.id}"
        if variant.id in variants:
            raise RuleFileError(f"{where}: written twice")
        try:
            variants[variant.id] = _variant(variant, where, general)
        except FormulaError as error:
            raise RuleFileError(f"{where}: {error}") from error
    return Rule(
        doc_type=written.doc_type,
        direction=written.direction,
        kind=written.kind,
        modifiers=frozenset(written.modifiers),
        reversed_next_period=written.reversed_next_period,
        negative_is=written.negative_is,
        decision=_decision(written.doc_type, written.decided_by, general) if written.decided_by else None,
        variants=MappingProxyType(variants),
    )


def _variant(written: WrittenVariant, where: str, general: General) -> Variant:
    known = {*written.inputs, *general.parameters, VAT_UNIT}
    for name in written.inputs:
        if general.meaning_of(name) is None:
            raise RuleFileError(f"{where}: input {name!r} is not listed in general.inputs")
    derived = []
    for name, text in written.derived.items():
        derived.append((name, _known(parse(text), known, f"{where}: derived {name}")))
        known.add(name)
    requires = tuple(
        _requirement(requirement, known, general, f"{where}: requirement {number}")
        for number, requirement in enumerate(written.requires, 1)
    )
    ways = written.booked_as_stated + written.booked_within_tolerance
    if not set(ways) <= set(written.derived):
        raise RuleFileError(f"{where}: {', '.join(ways)}: only derived values can give way to stated ones")
    stated = {name: _known(parse(text), known, f"{where}: stated {name}") for name, text in written.stated.items()}
    lines = tuple(_line(line, known, f"{where}: line {n}") for n, line in enumerate(written.lines, 1))
    signed = frozenset(written.signed_inputs)
    if not signed <= set(written.inputs):
        raise RuleFileError(f"{where}: signed_inputs {sorted(signed)} are not all inputs")
    return Variant(
        id=written.id,
        inputs=written.inputs,
        signed_inputs=signed,
        derived=tuple(derived),
        requires=requires,
        stated=MappingProxyType(stated),
        booked_as_stated=frozenset(written.booked_as_stated),
        booked_within_tolerance=frozenset(written.booked_within_tolerance),
        lines=lines,
    )


def _requirement(written: WrittenRequirement, known: Iterable[str], general: General, where: str) -> Requirement:
    condition = parse_condition(written.that)
    for side in (condition.left, condition.right):
        _known(side, known, where)
    if written.otherwise not in general.results.reject:
        raise RuleFileError(f"{where}: no code {written.otherwise!r}")
    names = frozenset((*names_in(condition.left), *names_in(condition.right)))
    return Requirement(condition, names, written.that, written.otherwise)


def _line(written: WrittenLine, known: Iterable[str], where: str) -> RuleLine:
    amount = _known(parse(written.amount), known, where)
    if written.key is not None and written.account_by is None:
        raise RuleFileError(f"{where}: a key without account_by")
    return RuleLine(
        side=written.side,
        account=written.account,
        amount=amount,
        account_by=written.account_by,
        key=written.key,
        in_book_currency=written.in_book_currency,
        clears=written.clears,
        absorbs=written.absorbs,
        per_rate=written.per_rate,
    )


def _known(expression: Expression, known: Iterable[str], where: str) -> Expression:
    unknown = sorted(set(names_in(expression)) - set(known))
    if unknown:
        raise RuleFileError(f"{where}: {', '.join(unknown)} is neither an input nor derived before")
    return expression


def _decision(doc_type: str, written: WrittenDecision, general: General) -> Decision:
    fields = []
    for name, field in written.fields.items():
        where = f"{doc_type}: decided_by {name}"
        if (field.source == "computed") != bool(field.conditions):
            raise RuleFileError(f"{where}: conditions belong to a computed field, and only there")
        if field.conditions and set(field.conditions) != set(field.values):
            raise RuleFileError(f"{where}: every value needs a condition")
        conditions = tuple((value, parse_condition(field.conditions[value])) for value in field.conditions)
        for _, condition in conditions:
            _known(condition.left, general.inputs, where)
            _known(condition.right, general.inputs, where)
        if field.unless_stated is not None and field.unless_stated not in field.values:
            raise RuleFileError(f"{where}: unless_stated {field.unless_stated!r} is none of its values")
        fields.append(Field(name, field.values, conditions, field.unless_stated))
    return Decision(tuple(fields), written.select, written.otherwise)


def _check_decision(rule: Rule, book: Rulebook) -> None:
    """Every combination of deciding fields fits exactly one row, and every row leads somewhere."""
    if rule.decision is None:
        if len(rule.variants) != 1:
            raise RuleFileError(f"{rule.doc_type}: several variants and nothing that decides between them")
        return
    verdicts: list[Verdict] = [*rule.decision.select]
    if rule.decision.otherwise is not None:
        verdicts.append(rule.decision.otherwise)
    for verdict in verdicts:
        _check_verdict(rule, verdict, book)
    unused = set(rule.variants) - {verdict.variant for verdict in verdicts}
    if unused:
        raise RuleFileError(f"{rule.doc_type}: nothing selects {', '.join(sorted(unused))}")
    for values in product(*(field.values for field in rule.decision.fields)):
        combination = dict(zip((field.name for field in rule.decision.fields), values, strict=True))
        fitting = list(rule.decision.rows_for(combination))
        if len(fitting) > 1 or (not fitting and rule.decision.otherwise is None):
            raise RuleFileError(f"{rule.doc_type}: {len(fitting)} rows fit {combination}")


def _check_verdict(rule: Rule, verdict: Verdict, book: Rulebook) -> None:
    results = book.general.results
    ways = [
        (verdict.variant, rule.variants),
        (verdict.reject, results.reject),
        (verdict.nothing_to_post, results.nothing_to_post),
        (verdict.use_rule, book.rules),
    ]
    led = [(name, known) for name, known in ways if name is not None]
    if len(led) != 1 or led[0][0] not in led[0][1]:
        raise RuleFileError(f"{rule.doc_type}: a row must lead to one thing that exists: {verdict}")
    if isinstance(verdict, Row) and rule.decision is not None:
        values = {field.name: field.values for field in rule.decision.fields}
        for name, wanted in verdict.where.items():
            if not set(wanted) <= set(values.get(name, ())):
                raise RuleFileError(f"{rule.doc_type}: no field {name} with values {wanted}")

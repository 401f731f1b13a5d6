"""Second step: which variant of which rule (general.decided_by)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from bookkeeping.agents.bookkeeper.facts import with_facts
from bookkeeping.agents.bookkeeper.formulas import FigureOutOfRange, FormulaError, holds, names_in
from bookkeeping.agents.bookkeeper.results import NothingToPost, Refused, Stop
from bookkeeping.agents.bookkeeper.rule_file import General, Verdict
from bookkeeping.agents.bookkeeper.rules import Decision, Field, Rule, Rulebook, Variant
from bookkeeping.agents.bookkeeper.understanding import Understood

NO_VARIANT: Final = Verdict(reject="unsupported_combination")


@dataclass(frozen=True, slots=True)
class Choice:
    """The treatment: a variant of a rule, and the record with the facts that led there."""

    rule: Rule
    variant: Variant
    understood: Understood

    @property
    def name(self) -> str:
        return f"{self.rule.doc_type}.{self.variant.id}"


def select(rules: Rulebook, understood: Understood) -> Choice | Stop:
    """The variant that the deciding fields lead to, or the rejection or the nothing-to-post that they lead to."""
    with_all = with_facts(understood)
    if isinstance(with_all, Refused):
        return with_all
    rule = with_all.rule
    if rule.decision is None:
        return Choice(rule, next(iter(rule.variants.values())), with_all)
    values = _values(rule.decision, with_all)
    verdict = _verdict(rules.general, rule.decision, with_all, values)
    if isinstance(verdict, Refused):
        return verdict
    if verdict.use_rule is not None:
        return select(rules, replace(understood, rule=rules.rules[verdict.use_rule]))
    if verdict.variant is not None:
        return Choice(rule, rule.variants[verdict.variant], with_all)
    return _end(rules, rule, verdict, values)


def _values(decision: Decision, understood: Understood) -> dict[str, str]:
    """The deciding fields that are known; computed ones where their inputs are there."""
    values = {}
    for field in decision.fields:
        value = _computed(field, understood) if field.conditions else understood.facts.get(field.name)
        if value is not None:
            values[field.name] = value
    return values


def _computed(field: Field, understood: Understood) -> str | None:
    figures = {**understood.terms.parameters, **understood.amounts}
    for value, condition in field.conditions:
        try:
            if holds(condition, figures, understood.terms.scale):
                return value
        except (FormulaError, FigureOutOfRange):  # an input is not there: only rows that do not ask for it can fit
            return None
    return None


def _verdict(
    general: General, decision: Decision, understood: Understood, values: Mapping[str, str]
) -> Verdict | Refused:
    """The one verdict that all completions of ``values`` lead to; else what is missing."""
    unknown = [field for field in decision.fields if field.name not in values]
    verdicts = []
    for combination in _completions(unknown, values):
        row = next(decision.rows_for(combination), None)
        verdict = _bare(row or decision.otherwise or NO_VARIANT)
        if verdict not in verdicts:
            verdicts.append(verdict)
    return verdicts[0] if len(verdicts) == 1 else _missing(general, decision, understood, values)


def _missing(general: General, decision: Decision, understood: Understood, values: Mapping[str, str]) -> Refused:
    """What the record does not state, of the fields that some row still asks for."""
    open_rows = [row for row in decision.select if all(values.get(n, w[0]) in w for n, w in row.where.items())]
    asked = [f for f in decision.fields if f.name not in values and any(f.name in row.where for row in open_rows)]
    inputs = sorted({name for field in asked for name in _inputs_of(field)} - set(understood.amounts))
    facts = [field.name for field in asked if not field.conditions]
    kinds = {meaning.kind for name in inputs if (meaning := general.meaning_of(name))}
    reason = "missing_rate" if kinds == {"exchange rate"} and not facts else "missing_input"
    return Refused(reason, f"What decides the treatment is not stated: {', '.join([*facts, *inputs])}.")


def _inputs_of(field: Field) -> set[str]:
    return {name for _, c in field.conditions for side in (c.left, c.right) for name in names_in(side)}


def _completions(unknown: list[Field], values: Mapping[str, str]) -> Iterator[dict[str, str]]:
    for chosen in product(*(field.values for field in unknown)):
        yield {**values, **dict(zip((field.name for field in unknown), chosen, strict=True))}


def _bare(verdict: Verdict) -> Verdict:
    return Verdict(
        variant=verdict.variant,
        reject=verdict.reject,
        nothing_to_post=verdict.nothing_to_post,
        use_rule=verdict.use_rule,
    )


def _end(rules: Rulebook, rule: Rule, verdict: Verdict, values: Mapping[str, str]) -> Stop:
    facts = ", ".join(f"{name} {value}" for name, value in values.items())
    results = rules.general.results
    if verdict.nothing_to_post is not None:
        meaning = results.nothing_to_post[verdict.nothing_to_post]
        return NothingToPost(verdict.nothing_to_post, f"{rule.doc_type} with {facts}: {meaning}.")
    reason = verdict.reject or "unsupported_combination"
    return Refused(reason, f"{rule.doc_type} with {facts}: {results.reject[reason]}.")

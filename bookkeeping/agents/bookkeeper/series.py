"""Variants written for two rates, layers or cheques, continued for as many as the record has.

Where a variant is written for one net at one rate and the record states several (net_a, rate_a, net_b, ...), its cost
or revenue line is repeated for each and the VAT is rounded for each rate by itself, as the variants for two rates do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bookkeeping.agents.bookkeeper.formulas import Binary, Call, Expression, Name, names_in, parse, rename
from bookkeeping.agents.bookkeeper.naming import series_of
from bookkeeping.agents.bookkeeper.rules import RuleLine, Variant

_ONE_VAT = parse("r2(net*rate/100)")
_SPLIT_BY = ("revenue", "expense", "origin")


def mark_of(expression: Expression) -> str | None:
    """The mark that all series names in ``expression`` share: "b" for ``gross_b-vat_b``, None for ``net_a+net_b``."""
    marks = {series.mark for name in names_in(expression) if (series := series_of(name))}
    return marks.pop() if len(marks) == 1 else None


def continued(variant: Variant, figures: Iterable[str]) -> Variant:
    """``variant`` with as many members of its series as ``figures`` (names of the record's amounts) call for."""
    names = set(figures)
    written = [series for name in variant.inputs if (series := series_of(name))]
    if not written:
        return _split(variant, names)
    last = max(series.mark for series in written)
    bases = {series.base for series in written}
    given = [series for name in names if (series := series_of(name))]
    further = {series.mark for series in given if series.base in bases and series.mark > last}
    for mark in sorted(further, reverse=True):
        variant = _with_member(variant, last, mark)
    return variant


def _with_member(variant: Variant, last: str, mark: str) -> Variant:
    """``variant`` with everything that it has for the member ``last`` once more, for ``mark``."""
    known = [*variant.inputs, *variant.derived_names]
    names = {n: s.with_mark(mark).name for n in known if (s := series_of(n)) and s.mark == last}
    derived: list[tuple[str, Expression]] = []
    for name, expression in variant.derived:
        derived.append((name, _grown(expression, names)))
        if name in names:
            derived.append((names[name], rename(expression, names)))
    lines: list[RuleLine] = []
    for line in variant.lines:
        lines.append(replace(line, amount=_grown(line.amount, names)))
        if mark_of(line.amount) == last:
            lines[-1:] = [line, replace(line, amount=rename(line.amount, names))]
    return replace(
        variant,
        inputs=(*variant.inputs, *(names[name] for name in variant.inputs if name in names)),
        signed_inputs=variant.signed_inputs | {names[name] for name in variant.signed_inputs if name in names},
        derived=tuple(derived),
        lines=tuple(lines),
    )


def _grown(expression: Expression, names: Mapping[str, str]) -> Expression:
    """A sum over members with the terms of one member repeated for the next: a+b+rest becomes a+b+c+rest."""
    if mark_of(expression) is not None:
        return expression
    if isinstance(expression, Binary) and expression.operation in ("+", "-"):
        left = _grown(expression.left, names)
        grown = Binary(expression.operation, left, expression.right)
        if set(names_in(expression.right)) & set(names):
            return Binary(expression.operation, grown, rename(expression.right, names))
        return grown
    return expression


def _split(variant: Variant, names: set[str]) -> Variant:
    """A variant for one net, for a record that states several, each with its own rate or all at one."""
    marks = sorted(series.mark for name in names if (series := series_of(name)) and series.base == "net")
    if "net" not in variant.inputs or "net" in names or not marks:
        return variant
    nets = [f"net_{mark}" for mark in marks]
    has_rates = any(name.startswith("rate_") for name in names)
    if has_rates and dict(variant.derived).get("vat") != _ONE_VAT:
        return variant
    derived = [("net", parse("+".join(nets)))]
    for name, expression in variant.derived:
        if has_rates and name == "vat":
            derived += [(f"vat_{mark}", parse(f"r2(net_{mark}*rate_{mark}/100)")) for mark in marks]
            expression = parse("+".join(f"vat_{mark}" for mark in marks))
        derived.append((name, expression))
    replaced = {"net": nets, "rate": [f"rate_{mark}" for mark in marks] if has_rates else ["rate"]}
    return replace(
        variant,
        inputs=tuple(new for name in variant.inputs for new in replaced.get(name, [name])),
        signed_inputs=(variant.signed_inputs - {"net"}) | set(nets),
        derived=tuple(derived),
        lines=tuple(new for line in variant.lines for new in _split_line(line, nets, has_rates)),
    )


def _split_line(line: RuleLine, nets: list[str], has_rates: bool) -> list[RuleLine]:
    if not (line.per_rate or line.account_by in _SPLIT_BY):
        return [line]
    if line.amount == Name("net"):
        return [replace(line, amount=Name(net)) for net in nets]
    if not has_rates and _first_term(line.amount) == Name("net"):
        return _with_shares(line, nets)
    return [line]


def _with_shares(line: RuleLine, nets: list[str]) -> list[RuleLine]:
    """A line of the net and more (blocked tax): each part takes of that more by its amount, the last what is left."""
    more = Binary("-", line.amount, Name("net"))
    shares: list[Expression] = [Call("r2", (Binary("/", Binary("*", more, Name(net)), Name("net")),)) for net in nets]
    rest: Expression = more
    for share in shares[:-1]:
        rest = Binary("-", rest, share)
    parts = zip(nets, [*shares[:-1], rest], strict=True)
    return [replace(line, amount=Binary("+", Name(net), part), mark=mark_of(Name(net))) for net, part in parts]


def _first_term(expression: Expression) -> Expression:
    while isinstance(expression, Binary) and expression.operation in ("+", "-"):
        expression = expression.left
    return expression

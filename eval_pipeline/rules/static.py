"""The rules that hold before anything runs: no model, no database, seconds.

Each yields its offenders by file, example and key. A rule about an agent's dataset refuses the whole dataset: its
examples are ERROR and nothing is spent.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from eval_pipeline.dataset import Example, KnownDefect
from eval_pipeline.evaluator import ScoreKey, applying
from eval_pipeline.registry import AGENTS, JUDGED_KEYS, SKIPPED_AGENTS
from eval_pipeline.rules.rule import Offence, Rule, static_rule
from eval_pipeline.rules.target_source import targets_hold_no_reasoning
from eval_pipeline.suite import AgentSuite
from eval_pipeline.verdict import Score, Trial, Verdict, decide


def _offence(rule: str, suite: AgentSuite, example: Example, message: str, key: str | None = None) -> Offence:
    return Offence(rule, suite.name, message, suite.dataset.sources[example.id], example.id, key)


@static_rule("skipped_agents_is_empty", "a parked agent would look like one that passes")
def skipped_agents_is_empty(suite: AgentSuite) -> Iterable[Offence]:
    """No agent is parked in SKIPPED_AGENTS."""
    if suite.entry.name in SKIPPED_AGENTS:
        yield Offence("skipped_agents_is_empty", suite.name, "is in SKIPPED_AGENTS; no agent may be parked")


@static_rule("agent_is_complete", "an agent without a target or evaluators cannot be graded")
def agent_is_complete(suite: AgentSuite) -> Iterable[Offence]:
    """The agent's package, target and evaluators can be imported and are what they should be."""
    if suite.broken is not None:
        yield Offence("agent_is_complete", suite.name, suite.broken)


@static_rule("every_key_is_graded", "an expectation that nobody reads looks like one that is met")
def every_key_is_graded(suite: AgentSuite) -> Iterable[Offence]:
    """Every key of every ``expected`` is read by an evaluator that applies to that example."""
    for example in suite.dataset.examples:
        read: set[str] = set()
        for item in applying(suite.evaluators, example.expected):
            read |= item.reads | item.may_read
        for key in example.expected:
            if key not in read:
                yield _offence("every_key_is_graded", suite, example, "no evaluator that applies here reads it", key)


@static_rule("every_example_is_graded", "an example that nobody grades looks like one that passes")
def every_example_is_graded(suite: AgentSuite) -> Iterable[Offence]:
    """At least one evaluator applies to every example."""
    for example in suite.dataset.examples:
        if not applying(suite.evaluators, example.expected):
            yield _offence("every_example_is_graded", suite, example, "no evaluator applies")


def _markers(suite: AgentSuite) -> Iterator[tuple[Example, KnownDefect]]:
    for example in suite.dataset.examples:
        for marker in example.known_defects:
            yield example, marker


def _keys(suite: AgentSuite, example: Example) -> dict[str, ScoreKey]:
    return {name: key for item in applying(suite.evaluators, example.expected) for name, key in item.scores.items()}


@static_rule("markers_name_scored_keys", "a marker on a key that nothing scores excuses nothing and never expires")
def markers_name_scored_keys(suite: AgentSuite) -> Iterable[Offence]:
    """A known defect names only keys that some evaluator which applies to its example scores."""
    for example, marker in _markers(suite):
        for key in marker.keys:
            if key not in _keys(suite, example):
                yield _offence(
                    "markers_name_scored_keys", suite, example, "a known defect names it, nothing scores it", key
                )


@static_rule("markers_name_excusable_keys", "some failures may never be excused")
def markers_name_excusable_keys(suite: AgentSuite) -> Iterable[Offence]:
    """No known defect names a key that is declared not excusable."""
    for example, marker in _markers(suite):
        keys = _keys(suite, example)
        for key in marker.keys:
            if key in keys and not keys[key].excusable:
                yield _offence("markers_name_excusable_keys", suite, example, "may not be excused", key)


@static_rule("only_when_names_outputs", "a situation that cannot occur makes a marker that never bites")
def only_when_names_outputs(suite: AgentSuite) -> Iterable[Offence]:
    """``only_when`` names outputs that the target really returns."""
    if suite.target is None:
        return
    for example, marker in _markers(suite):
        for name in marker.only_when or {}:
            if name not in suite.target.output_names:
                yield _offence("only_when_names_outputs", suite, example, f"only_when names {name!r}, not an output")


@static_rule("every_marker_bites", "a marker that excuses everything, or nothing, hides what it was made for")
def every_marker_bites(suite: AgentSuite) -> Iterable[Offence]:
    """Inside its situation a marker keeps the example from being red, outside of it the same scores FAIL."""
    for example, marker in _markers(suite):
        keys = _keys(suite, example)
        scores = tuple(Score(key, 0.0 if key in marker.keys else 1.0) for key in keys)
        inside = decide([Trial(scores, marker.only_when or {})], example.known_defects)
        if inside.verdict not in (Verdict.XFAIL, Verdict.XPASS):
            told = f"inside its situation the verdict is {inside.verdict}"
            yield _offence("every_marker_bites", suite, example, told, ", ".join(marker.keys))
        if marker.only_when and decide([Trial(scores, {})], example.known_defects).verdict is not Verdict.FAIL:
            told = "outside its situation the example does not fail"
            yield _offence("every_marker_bites", suite, example, told, ", ".join(marker.keys))


@static_rule("no_marker_is_expired", "an excuse must not outlive the patience it was given")
def no_marker_is_expired(suite: AgentSuite, today: date | None = None) -> Iterable[Offence]:
    """No known defect is past its ``expires`` (in UTC)."""
    now = today or datetime.now(UTC).date()
    for example, marker in _markers(suite):
        if marker.expires is not None and marker.expires < now:
            told = f"its known defect expired on {marker.expires}"
            yield _offence("no_marker_is_expired", suite, example, told, ", ".join(marker.keys))


@static_rule("no_evaluator_is_dead", "an evaluator that never applies grades nothing, and nobody notices")
def no_evaluator_is_dead(suite: AgentSuite) -> Iterable[Offence]:
    """Every evaluator applies to at least one example. Not asked of a pack."""
    if suite.pack is not None:
        return
    for item in suite.evaluators:
        if not any(item.applies(example.expected) for example in suite.dataset.examples):
            told = f"evaluator {item.name} applies to no example (it reads {', '.join(sorted(item.reads))})"
            yield Offence("no_evaluator_is_dead", suite.name, told)


@static_rule("judged_keys_are_the_allowed_ones", "a model that grades a model is no ground for a release")
def judged_keys_are_the_allowed_ones(suite: AgentSuite) -> Iterable[Offence]:
    """The keys that a model judges are exactly those that the registry allows for this agent."""
    judged = {name for item in suite.evaluators for name, key in item.scores.items() if key.judged}
    allowed = JUDGED_KEYS.get(suite.entry.name, frozenset())
    if suite.target is None:
        return
    for key in sorted(judged - allowed):
        yield Offence("judged_keys_are_the_allowed_ones", suite.name, "may not be judged by a model", key=key)
    for key in sorted(allowed - judged):
        yield Offence("judged_keys_are_the_allowed_ones", suite.name, "is to be judged and no evaluator does", key=key)


@static_rule("only_storage_is_substituted", "a stub in the place of reasoning makes a board about the stub")
def only_storage_is_substituted(suite: AgentSuite) -> Iterable[Offence]:
    """A target substitutes storage ports only, with doubles that have every method of the port."""
    from bookkeeping.ports import is_storage_port

    for item in suite.target.substitutions if suite.target else ():
        if not is_storage_port(item.port):
            told = f"substitutes {item.port.__name__}, which is not a storage port"
            yield Offence("only_storage_is_substituted", suite.name, told)
        missing = sorted(name for name in _methods(item.port) if not callable(getattr(item.double, name, None)))
        if missing:
            told = f"{item.double.__name__} lacks {', '.join(missing)} of {item.port.__name__}"
            yield Offence("only_storage_is_substituted", suite.name, told)


def _methods(port: type) -> set[str]:
    return {name for name, value in vars(port).items() if callable(value) and not name.startswith("_")}


COMMON: tuple[Rule, ...] = (
    skipped_agents_is_empty,
    agent_is_complete,
    every_key_is_graded,
    every_example_is_graded,
    markers_name_scored_keys,
    markers_name_excusable_keys,
    only_when_names_outputs,
    every_marker_bites,
    no_marker_is_expired,
    no_evaluator_is_dead,
    judged_keys_are_the_allowed_ones,
    only_storage_is_substituted,
    targets_hold_no_reasoning,
)


def rules_of(suite: AgentSuite) -> tuple[Rule, ...]:
    """The common rules, then those that the agent's evaluators module declares."""
    if suite.target is None:
        return COMMON
    module = import_module(suite.entry.evaluators)
    return (*COMMON, *(value for value in vars(module).values() if isinstance(value, Rule)))


NEEDS_EVALUATORS = frozenset(
    {"every_key_is_graded", "every_example_is_graded", "markers_name_scored_keys", "every_marker_bites"}
)


def offences(suite: AgentSuite) -> tuple[Offence, ...]:
    """All offenders of one agent. Of an agent that is not installed only what can be said without it."""
    rules = [rule for rule in rules_of(suite) if suite.target is not None or rule.name not in NEEDS_EVALUATORS]
    return tuple(offence for rule in rules for offence in rule.check(suite))


def unregistered(folder: Path | None = None) -> tuple[Offence, ...]:
    """Agents that no board would show: packages in ``bookkeeping/agents/`` that the registry does not name, and names
    in SKIPPED_AGENTS that it does not have (``skipped_agents_is_empty`` tells of those that it has).
    """
    if folder is None:
        spec = find_spec("bookkeeping.agents")
        folder = Path(next(iter(spec.submodule_search_locations or ()))) if spec else Path()
    registered = {entry.package for entry in AGENTS}
    found: Sequence[str] = sorted(
        path.parent.name for path in folder.glob("*/*.py") if path.parent.name != "__pycache__"
    )
    parked = sorted(SKIPPED_AGENTS - {entry.name for entry in AGENTS})
    return (
        *(
            Offence("every_agent_is_registered", name, f"bookkeeping.agents.{name} is not in AGENTS", folder / name)
            for name in dict.fromkeys(found)
            if f"bookkeeping.agents.{name}" not in registered
        ),
        *(Offence("skipped_agents_is_empty", name, "is in SKIPPED_AGENTS; no agent may be parked") for name in parked),
    )

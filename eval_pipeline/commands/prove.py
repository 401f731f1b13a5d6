"""``prove``: that a green board means something. Expectations that are live, score keys that can fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from eval_pipeline.commands.check import offence_as_json
from eval_pipeline.dataset import Example
from eval_pipeline.errors import NOT_GREEN, OK
from eval_pipeline.packs import load_packs, packs_of
from eval_pipeline.pipeline import passed_of
from eval_pipeline.results import runs
from eval_pipeline.results.database import Database
from eval_pipeline.rules import Offence
from eval_pipeline.rules.can_fail import unfailing
from eval_pipeline.rules.liveness import dead_expectations, live_leaves
from eval_pipeline.settings import settings
from eval_pipeline.storage import storage
from eval_pipeline.suite import AgentSuite, load_suite
from eval_pipeline.terminal import print_json


@dataclass(frozen=True, slots=True)
class Proof:
    """What one agent's stored outcomes prove: how much was tried, and every offender."""

    agent: str
    n_examples: int
    n_leaves: int
    n_keys: int
    offences: tuple[Offence, ...]


def prove(run_id: str, out: Console, *, as_json: bool) -> int:
    """Prints what a run's stored outcomes prove of each agent; 1 when something is dead or cannot fail.

    Only examples that passed prove anything: an agent of which none did is told with 0. No model is called.
    """
    with storage(settings()) as where, Database(where.database_url) as database:
        run = runs.get(database, run_id)
        there = {row.agent for row in runs.agents(database, run.run_id) if row.n_selected}
        suite = load_suite(settings().datasets, sorted({name.partition("@")[0] for name in there}))
        everything = (*suite, *load_packs(suite, packs_of(run.selection), settings().datasets))
        proofs = [_proof(item, passed_of(database, run.run_id, item)) for item in everything if item.name in there]
    _print(proofs, out, as_json=as_json)
    return NOT_GREEN if any(proof.offences for proof in proofs) else OK


def _proof(suite: AgentSuite, passed: Sequence[tuple[Example, Mapping[str, Any]]]) -> Proof:
    n_leaves = sum(1 for example, outputs in passed for _ in live_leaves(suite.evaluators, example, outputs))
    keys = {
        key
        for example, _ in passed
        for item in suite.evaluators
        if item.applies(example.expected)
        for key in item.scores
    }
    found = (*dead_expectations(suite, passed), *unfailing(suite, passed))
    return Proof(suite.name, len(passed), n_leaves, len(keys), found)


def _print(proofs: Sequence[Proof], out: Console, *, as_json: bool) -> None:
    if as_json:
        value = [
            {
                "agent": proof.agent,
                "n_examples": proof.n_examples,
                "n_leaves": proof.n_leaves,
                "n_keys": proof.n_keys,
                "offences": [offence_as_json(item) for item in proof.offences],
            }
            for proof in proofs
        ]
        print_json(out, {"ok": not any(proof.offences for proof in proofs), "agents": value})
        return
    for proof in proofs:
        for offence in proof.offences:
            out.print(f"{offence.rule}: {offence}", markup=False, soft_wrap=True)
        if not proof.n_examples:
            out.print(f"{proof.agent}: nothing is proved: no example passed", markup=False, soft_wrap=True)
            continue
        told = f"{len(proof.offences)} offenders" if proof.offences else "all live, all can fail"
        tried = f"{proof.n_leaves} expectations and {proof.n_keys} score keys on {proof.n_examples} passed examples"
        out.print(f"{proof.agent}: {told}: {tried}", markup=False, soft_wrap=True)

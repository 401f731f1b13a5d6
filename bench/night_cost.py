"""What a whole night would cost with a model of a provider: an estimate, without asking anybody.

The prompts are the agents' own, made from every example of the datasets as the graph makes them when it reads right.
Tokens are estimated as characters over CHARACTERS_A_TOKEN; what is answered is as long as what is expected, and as much
again is taken for what a model thinks before it answers. List prices as in bookkeeping.models.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from bookkeeping.agents.bookkeeper import instruction as instructions
from bookkeeping.agents.bookkeeper.record import Instruction
from bookkeeping.agents.typewriter import prompts
from bookkeeping.agents.typewriter.paper import read_paper
from bookkeeping.documents import catalogue
from bookkeeping.models import DEFAULT_MODEL, NO_TOKENS, Tokens, cost_usd
from eval_pipeline.settings import settings
from eval_pipeline.suite import load_suite

CHARACTERS_A_TOKEN = 3.2
"""Of business papers in several languages, full of figures; plain English has about 4."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call: the prefix that all calls share, the document that the calls of one example share, and the rest."""

    prefix: str
    document: str
    rest: str
    answer: str


def measure() -> Iterator[str]:
    """The lines of the estimate: by agent, and all together."""
    yield f"estimate for {DEFAULT_MODEL}: {CHARACTERS_A_TOKEN} characters a token, thinking as long as the answer"
    headings = f"{'input':>9} {'written':>9} {'cached':>11} {'output':>8} {'USD':>7}"
    yield f"{'agent':<12} {'examples':>8} {'calls':>6} {headings}"
    total, n_all = NO_TOKENS, 0
    for name, of_examples in (("typewriter", _typewriter()), ("bookkeeper", _bookkeeper())):
        spent, n_examples, n_calls = NO_TOKENS, 0, 0
        prefixes: set[str] = set()
        for questions in of_examples:
            n_examples += 1
            for number, question in enumerate(questions):
                n_calls += 1
                spent += _tokens(question, is_first=number == 0, is_new_prefix=question.prefix not in prefixes)
                prefixes.add(question.prefix)
        total, n_all = total + spent, n_all + n_calls
        yield _row(name, str(n_examples), n_calls, spent)
    yield _row("all", "", n_all, total)


def _row(name: str, examples: str, calls: int, spent: Tokens) -> str:
    return (
        f"{name:<12} {examples:>8} {calls:>6} {spent.input:>9} {spent.cache_write:>9} {spent.cache_read:>11} "
        f"{spent.output:>8} {cost_usd(DEFAULT_MODEL, spent):>7.2f}"
    )


def _tokens(question: Question, *, is_first: bool, is_new_prefix: bool) -> Tokens:
    prefix, document = _n(question.prefix), _n(question.document)
    written = (prefix if is_new_prefix else 0) + (document if is_first else 0)
    read = (0 if is_new_prefix else prefix) + (0 if is_first else document)
    return Tokens(_n(question.rest), 2 * _n(question.answer), cache_read=read, cache_write=written)


def _n(text: str) -> int:
    return ceil(len(text) / CHARACTERS_A_TOKEN)


def _typewriter() -> Iterator[list[Question]]:
    prefix = prompts.system(is_small=False)
    (suite,) = load_suite(settings().datasets, ["typewriter"])
    for example in suite.dataset.examples:
        inputs = suite.dataset.inputs(example)
        paper, company = read_paper(inputs["document"]), inputs["company"]
        document = prompts.document(paper, is_small=False)
        documents = example.expected.get("documents") or ([example.expected] if "doc_type" in example.expected else [])
        asked = [Question(prefix, document, prompts.families_question(company, is_small=False), '{"documents":[]}')]
        for expected in documents:
            kind = catalogue().types[expected["doc_type"]]
            schema = json.dumps(kind.payload.json_schema(len(paper.lines)))
            of_type = prompts.type_question(company, kind.family, "", is_small=False)
            asked.append(Question(prefix, document, of_type, json.dumps({"doc_type": kind.code})))
            copied = prompts.copy_question(kind, "", is_small=False)
            asked.append(Question(prefix, document, copied + schema, _copied(kind, expected)))
        yield asked


def _copied(kind: Any, expected: Mapping[str, Any]) -> str:
    """An answer with every field of the type, of which those that are expected have their value."""
    known = expected.get("fields", {})
    fields = {field.name: known.get(field.name) or "" for field in kind.payload.fields}
    one = {field.name: "12345678" for field in kind.payload.row_fields}
    return json.dumps({"fields": fields, "rows": [one] * int(expected.get("row_count", 0))})


def _bookkeeper() -> Iterator[list[Question]]:
    (suite,) = load_suite(settings().datasets, ["bookkeeper"])
    for example in suite.dataset.examples:
        if "instruction" in example.inputs:
            asked = instructions.request(Instruction.model_validate(example.inputs["instruction"]), "Larch Trading Ltd")
            document, rest = asked.content
            answer = json.dumps(dict.fromkeys(asked.schema["properties"], "12345"))
            yield [Question(asked.system, document, rest + json.dumps(asked.schema), answer)]

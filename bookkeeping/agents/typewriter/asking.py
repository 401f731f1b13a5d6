"""The questions that the graph asks the model, and their answers as values."""

from collections.abc import Mapping
from typing import Any

from bookkeeping.agents.typewriter import prompts
from bookkeeping.agents.typewriter.paper import Copied, Paper, Part, Typed
from bookkeeping.documents import catalogue
from bookkeeping.models import Model, Request, object_schema

CLASSIFY_TOKENS = 4_000
COPY_TOKENS = 24_000
"""Limits for a large model; what it thinks before it answers counts too."""

NO_FAMILY = "none"


def find_parts(model: Model, paper: Paper, company: str) -> tuple[Part, ...]:
    """The documents in a text, in their order, with the family of each. A small model is asked for one family."""
    question = prompts.families_question(company, is_small=model.is_small)
    if model.is_small:
        schema = object_schema(family={"type": "string", "enum": [*catalogue().families, NO_FAMILY]})
        answer = _ask(model, paper, question, schema, CLASSIFY_TOKENS)
        family = answer["family"]
        return () if family == NO_FAMILY else (Part(1, len(paper.lines), family),)
    line = {"type": "integer"}
    item = object_schema(first_line=line, last_line=line, family={"type": "string", "enum": list(catalogue().families)})
    answer = _ask(model, paper, question, object_schema(documents={"type": "array", "items": item}), CLASSIFY_TOKENS)
    parts = (_within(paper, found) for found in answer["documents"])
    return tuple(sorted(parts, key=lambda part: (part.first_line, part.last_line)))


def _within(paper: Paper, found: Mapping[str, Any]) -> Part:
    """The part that an answer names; lines that are not there are brought to those that are."""
    first = min(max(1, found["first_line"]), len(paper.lines))
    last = min(max(first, found["last_line"]), len(paper.lines))
    return Part(first, last, found["family"])


def find_type(model: Model, paper: Paper, part: Part, company: str) -> Typed:
    """The document with its type, one of its family."""
    types = catalogue().of_family(part.family)
    if len(types) == 1:
        return Typed(part, types[0])
    question = prompts.type_question(company, part.family, _place(paper, part), is_small=model.is_small)
    schema = object_schema(doc_type={"type": "string", "enum": [item.code for item in types]})
    answer = _ask(model, paper, question, schema, CLASSIFY_TOKENS)
    return Typed(part, catalogue().types[answer["doc_type"]])


def copy_values(model: Model, paper: Paper, typed: Typed) -> Copied:
    """What the document states, as it is written there. A table has no more rows than the document has lines."""
    payload = typed.document_type.payload
    asked = payload.only_core() if model.is_small else payload
    question = prompts.copy_question(typed.document_type, _place(paper, typed.part), is_small=model.is_small)
    n_lines = typed.part.last_line - typed.part.first_line + 1
    answer = _ask(model, paper, question, asked.json_schema(n_lines), COPY_TOKENS)
    return Copied(typed, answer["fields"], tuple(answer.get("rows", ())))


def _ask(model: Model, paper: Paper, question: str, schema: Mapping[str, Any], max_tokens: int) -> Any:
    material = prompts.document(paper, is_small=model.is_small)
    request = Request(prompts.system(is_small=model.is_small), (material, question), schema, max_tokens)
    return model.complete(request).value


def _place(paper: Paper, part: Part) -> str:
    if (part.first_line, part.last_line) == (1, len(paper.lines)):
        return ""
    return f" in lines {part.first_line} to {part.last_line}"

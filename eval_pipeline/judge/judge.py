"""The judge of one run: asks a model about a reply, remembers what it answered, and is itself put to the test.

An evaluator asks ``meets_rubric``; which judge that asks is a matter of the context, set by whoever scores a run. Where
nobody has set one, there is none, and the score is 0, unanswered.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from bookkeeping.models import Model, ModelError, NoModel, Request, Tokens
from eval_pipeline.errors import one_line
from eval_pipeline.judge.verdicts import Judgement, read, schema, unanswered
from eval_pipeline.values import digest
from eval_pipeline.verdict import Score

MAX_TOKENS = 8_000

# A model takes any of these spellings for the end of the material.
_CLOSING = re.compile(r"<(\s*/\s*reply)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Kept:
    """A judgement that was answered, with the model that gave it and what it cost."""

    judgement: Judgement
    model_id: str
    tokens: Tokens


class Memory(Protocol):
    """Where answered judgements are kept, so that nothing is asked and paid twice."""

    def get(self, key: str) -> Judgement | None:
        """The judgement of this key, None when it was never answered."""

    def put(self, key: str, kept: Kept, model: str) -> None:
        """Keeps a judgement."""


class Judge:
    """A model as judge, or the reason why there is none."""

    def __init__(self, model: Model | NoModel, memory: Memory | None = None) -> None:
        self._model, self._memory = model, memory
        self.n_judged = 0
        """Replies that this judge had an answer for, asked or remembered."""

    @property
    def name(self) -> str | None:
        """The model's name; None when there is none."""
        return None if isinstance(self._model, NoModel) else self._model.name

    def judge(self, reply: str, rubric: Sequence[str], salt: str = "") -> Judgement:
        """The judgement of a reply by a rubric of at least one criterion. Never raises for what the model does.

        ``salt`` keeps judgements of the same reply apart.
        """
        if isinstance(self._model, NoModel):
            return unanswered(self._model.reason)
        request = question(reply, rubric)
        key = digest([self._model.name, request.system, *request.content, request.schema, salt])
        known = self._memory.get(key) if self._memory is not None else None
        judgement = known or self._asked(self._model, request, reply, rubric, key)
        self.n_judged += judgement.is_answered
        return judgement

    def _asked(self, model: Model, request: Request, reply: str, rubric: Sequence[str], key: str) -> Judgement:
        try:
            completion = model.complete(request)
        except ModelError as error:
            return unanswered(one_line(error))
        judgement = read(completion.value, rubric, reply)
        if self._memory is not None and judgement.is_answered:
            self._memory.put(key, Kept(judgement, completion.model_id, completion.tokens), model.name)
        return judgement


def question(reply: str, rubric: Sequence[str]) -> Request:
    """What the judge is asked: its guide, the criteria, and the reply as material. Raises ValueError without any."""
    if not rubric:
        raise ValueError("a rubric has at least one criterion")
    criteria = "\n".join(f"{number}. {criterion}" for number, criterion in enumerate(rubric, 1))
    material = _CLOSING.sub(r"‹\1", reply)
    asked = f"The criteria:\n{criteria}\n\n<reply>\n{material}\n</reply>"
    return Request(_guide(), (asked, "Check the reply against each criterion."), schema(rubric), MAX_TOKENS)


@cache
def _guide() -> str:
    return files(__package__).joinpath("guide.md").read_text("utf-8").strip()


_current: ContextVar[Judge | None] = ContextVar("eval_pipeline_judge", default=None)


@contextmanager
def judging(judge: Judge) -> Iterator[Judge]:
    """Has the evaluators of this context ask this judge."""
    token = _current.set(judge)
    try:
        yield judge
    finally:
        _current.reset(token)


def meets_rubric(key: str, reply: object, rubric: Sequence[str]) -> Score:
    """The score of a reply by its rubric: 1.0 when the judge says of every criterion that it holds.

    No reply is 0.0 without asking anybody. A judge that is not there or gives no usable answer is 0.0, ``unanswered``.
    """
    if not isinstance(reply, str) or not reply.strip():
        return Score(key, 0.0, "there is no reply")
    judge = _current.get()
    judgement = judge.judge(reply, rubric) if judge else unanswered("no judge was set for this scoring")
    return Score(key, judgement.value, judgement.told, unanswered=not judgement.is_answered)

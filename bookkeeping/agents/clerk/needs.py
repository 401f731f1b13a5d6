"""Whether given inputs need a model: by the same functions with which the graph chooses its way."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from bookkeeping.agents.clerk.identify import must_be_read
from bookkeeping.agents.clerk.inputs import ClerkInputs, Message, read_inputs
from bookkeeping.agents.clerk.scope import scope_by_rules


def needs_model(inputs: Mapping[str, Any]) -> bool:
    """Whether the graph will ask the model. Inputs that are none need no model: the graph says what is wrong."""
    try:
        return asks_model(read_inputs(inputs))
    except ValidationError:
        return False


def asks_model(inputs: ClerkInputs) -> bool:
    """Whether a submission must be read, a message sorted by the model, or answered."""
    if inputs.submission is not None:
        return must_be_read(inputs.submission)
    message = inputs.message
    if message is None:
        return False
    scope = scope_by_rules(inputs.company, message)
    return scope is None or is_answered(scope, message)


def is_answered(scope: str, message: Message) -> bool:
    """Whether the model writes the reply: to a message in scope that wants one."""
    return scope == "in_scope" and message.reply

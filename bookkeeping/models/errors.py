"""Why a model gave no answer: few kinds, each distinct, so that a board can say which it was."""

from bookkeeping.models.model import NO_TOKENS, Tokens


class ModelError(Exception):
    """A model gave no usable answer. ``tokens`` were consumed all the same."""

    def __init__(self, message: str, tokens: Tokens = NO_TOKENS) -> None:
        super().__init__(message)
        self.tokens = tokens


class ModelTruncated(ModelError):
    """The answer was cut at the limit of tokens."""


class ModelRefused(ModelError):
    """The model refuses to answer."""


class ModelMalformed(ModelError):
    """What came back is not JSON, does not fit the schema, or is no reply of the protocol at all."""


class ModelRateLimited(ModelError):
    """The provider was too busy for us, to the last attempt (429, 529)."""


class ModelUnavailable(ModelError):
    """The provider could not be reached or failed, to the last attempt (5xx, dropped connections)."""


class ModelTimedOut(ModelError):
    """The time limit passed before there was an answer."""


class ModelRejected(ModelError):
    """The provider does not take the request: a wrong key, an unknown model, a prompt that is too long."""

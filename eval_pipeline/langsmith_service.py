"""How LangSmith is reached: the SDK's client, with retries at the transport, and its errors in one line each.

The key (``LANGSMITH_API_KEY``) and the address (``LANGSMITH_ENDPOINT``) are read from the environment, as the SDK
does. Retries are safe for every request that is made here: what is written has an id that is derived, never drawn.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from eval_pipeline.errors import EvalPipelineError

if TYPE_CHECKING:
    from langsmith import Client

KEY = "LANGSMITH_API_KEY"
ENDPOINT = "LANGSMITH_ENDPOINT"
OWN_ENDPOINT = "https://api.smith.langchain.com"
NO_KEY = f"no LangSmith: set {KEY}"

ATTEMPTS = 6
RETRIED = (408, 425, 429, 500, 502, 503, 504, 529)
LONGEST_WAIT_S = 60
TIMEOUT_MS = (10_000, 60_000)
"""To connect, and to wait for an answer."""


class ServiceError(EvalPipelineError):
    """LangSmith does not do what it is asked: it cannot be reached, refuses the key, or answers with an error."""


@dataclass(frozen=True, slots=True)
class NoService:
    """Why there is no LangSmith to talk to."""

    reason: str = NO_KEY


def connect(
    environment: Mapping[str, str] = os.environ,
    *,
    backoff_s: float = 1.0,
    on_lost: Callable[[Exception], None] | None = None,
    before_sending: Callable[[Sequence[dict[str, Any]]], Iterable[dict[str, Any]]] | None = None,
) -> "Client | NoService":
    """A client, or the reason why there is none.

    With ``on_lost`` it also sends in the background, and tells that function of each error that made it lose something;
    ``before_sending`` is given what is sent so, and gives what is sent in its place.

    Raises ServiceError when the service does not answer, or refuses the key.
    """
    key = environment.get(KEY, "").strip()
    if not key:
        return NoService()
    from langsmith import Client
    from langsmith.schemas import LangSmithInfo
    from urllib3 import Retry

    retry = Retry(
        total=ATTEMPTS,
        status_forcelist=RETRIED,
        allowed_methods=None,
        backoff_factor=backoff_s,
        backoff_jitter=backoff_s / 2,
        backoff_max=LONGEST_WAIT_S,
        retry_after_max=LONGEST_WAIT_S,
        raise_on_status=False,
    )
    address = environment.get(ENDPOINT, "").strip() or OWN_ENDPOINT
    options: dict[str, Any] = {
        "api_url": address,
        "api_key": key,
        "retry_config": retry,
        "timeout_ms": TIMEOUT_MS,
        "omit_traced_runtime_info": True,
        "tracing_error_callback": on_lost,
        "tracing_sampling_rate": 1.0,
    }
    with told(address):
        # The SDK would go on without this answer, with other requests than this service takes.
        reply = Client(**options, auto_batch_tracing=False).request_with_retries("GET", "/info")
        info = LangSmithInfo(**reply.json())
        if before_sending is not None:
            options |= {
                "process_buffered_run_ops": before_sending,
                "run_ops_buffer_size": 100,
                "run_ops_buffer_timeout_ms": 1000,
            }
        return Client(**options, auto_batch_tracing=on_lost is not None, info=info)


@contextmanager
def told(address: str) -> Iterator[None]:
    """Makes any error of the SDK a ServiceError of one line; nothing of the request, and so of the key, is in it."""
    import requests
    from langsmith import utils

    host = urlsplit(address).netloc or address
    try:
        yield
    except utils.LangSmithAuthError:
        raise ServiceError(f"LangSmith at {host} refuses the key in {KEY}") from None
    except utils.LangSmithRateLimitError:
        raise ServiceError(f"LangSmith at {host} still asks to slow down after {ATTEMPTS} retries") from None
    except utils.LangSmithConnectionError:
        raise ServiceError(f"LangSmith at {host} cannot be reached, or cut the connection") from None
    except (utils.LangSmithError, requests.RequestException, OSError) as error:
        raise ServiceError(f"LangSmith at {host} {_why(error)}") from None


def _why(error: Exception) -> str:
    """What it answered, by the status of the response where there is one."""
    cause: BaseException | None = error
    while cause is not None:
        status = getattr(getattr(cause, "response", None), "status_code", None)
        if status in (401, 403):
            return f"refuses the key in {KEY} ({status})"
        if status is not None:
            return f"answered with status {status}"
        cause = cause.__cause__ or cause.__context__
    return f"did not do what it was asked ({type(error).__name__})"

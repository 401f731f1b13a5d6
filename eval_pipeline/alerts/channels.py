"""The channels: every address of EVAL_ALERT_URLS, through apprise."""

from collections.abc import Mapping, Sequence
from typing import Any

from eval_pipeline.alerts.outbox import Send
from eval_pipeline.errors import ConfigError
from eval_pipeline.values import digest


def channels(urls: Sequence[str], link: str | None = None) -> Mapping[str, Send]:
    """A sender for each of these addresses, by a digest of it; ``link`` is added to every body.

    Raises ConfigError, that names an address by its number and never by its text, for one that apprise does not know:
    it is a secret.
    """
    import apprise  # slow to import, and only nights come here

    found: dict[str, Send] = {}
    for number, url in enumerate(urls, 1):
        one = apprise.Apprise()
        if not one.add(url):
            raise ConfigError(f"EVAL_ALERT_URLS: address {number} is none that apprise knows")
        found[digest(url)[:16]] = _sender(one, link)
    return found


def _sender(one: Any, link: str | None) -> Send:
    def send(title: str, body: str) -> bool:
        return bool(one.notify(body=f"{body}\n{link}" if link else body, title=title))

    return send

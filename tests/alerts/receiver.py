"""A loopback receiver of alerts: it keeps what it took, and can be down."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from bench.loopback import listening


@dataclass
class Receiver:
    """What was taken, as (title, body), and whether it takes anything now."""

    place: str = ""
    is_down: bool = False
    n_asked: int = 0
    taken: list[tuple[str, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its address, as apprise has it."""
        return f"json://{self.place}/hook"

    @property
    def titles(self) -> list[str]:
        """The titles of what was taken."""
        return [title for title, _ in self.taken]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            value = json.loads(self.rfile.read(int(self.headers["content-length"])))
            receiver.n_asked += 1
            if not receiver.is_down:
                receiver.taken.append((value["title"], value["message"]))
            self.send_response(503 if receiver.is_down else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler) as receiver.place:
        yield receiver

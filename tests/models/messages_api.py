"""A loopback server that speaks the Messages API: each request is answered by the next step of a script."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from bench.loopback import listening

Step = Callable[[BaseHTTPRequestHandler], None]

INPUT_TOKENS = 100
OUTPUT_TOKENS = 7


@dataclass
class Server:
    """What was asked, and the script of what is answered; its last step is repeated."""

    script: list[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(*script: Step) -> Iterator[Server]:
    server = Server(list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers["content-length"])
            self.asked = json.loads(self.rfile.read(length))
            server.requests.append(self.asked)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            number = min(len(server.requests), len(server.script)) - 1
            try:
                server.script[number](self)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_):
            pass

    with listening(Handler) as place:
        server.url = f"http://{place}"
        yield server


def events(
    text: str,
    stop_reason: str | None = "end_turn",
    cache_read: int = 0,
    cache_write: int = 0,
    model: str = "claude-served",
) -> list[dict[str, Any]]:
    usage = {
        "input_tokens": INPUT_TOKENS,
        "output_tokens": 1,
        "cache_read_input_tokens": cache_read,
        "cache_creation_input_tokens": cache_write,
    }
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}
            for part in _parts(text)
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": None},
            "usage": {"output_tokens": OUTPUT_TOKENS},
        },
        {"type": "message_stop"},
    ]


def _parts(text: str) -> Iterator[str]:
    for start in range(0, len(text), 5):
        yield text[start : start + 5]


def answer(value: object, **options: Any) -> Step:
    return stream(events(json.dumps(value), **options))


def text(written: str, **options: Any) -> Step:
    return stream(events(written, **options))


def stream(parts: list[dict[str, Any]], *, cut_after: int | None = None, pause_s: float = 0.0) -> Step:
    """An event stream; ``cut_after`` so many events the connection is gone, between events it pauses."""

    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for part in parts[:cut_after]:
            _chunk(handler, f"event: {part['type']}\ndata: {json.dumps(part)}\n\n".encode())
            time.sleep(pause_s)
        if cut_after is None:
            _chunk(handler, b"")
        else:
            drop(handler)

    return step


def _chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    handler.wfile.write(f"{len(data):X}\r\n".encode() + data + b"\r\n")
    handler.wfile.flush()


def drop(handler: BaseHTTPRequestHandler) -> None:
    """The connection is gone without a word."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def status(code: int, kind: str, **headers: str) -> Step:
    def step(handler: BaseHTTPRequestHandler) -> None:
        body = json.dumps({"type": "error", "error": {"type": kind, "message": f"told by the server: {kind}"}}).encode()
        handler.send_response(code)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def page(body: str, content_type: str = "text/html") -> Step:
    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", content_type)
        handler.send_header("content-length", str(len(body.encode())))
        handler.end_headers()
        handler.wfile.write(body.encode())

    return step


def slow_headers(seconds: float) -> Step:
    def step(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(seconds)
        drop(handler)

    return step

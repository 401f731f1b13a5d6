"""A loopback collector that takes spans as OTLP over HTTP, and keeps them as the protocol's own messages."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.loopback import listening


@dataclass
class Collector:
    """What was taken. ``status`` is answered to every request, after ``delay_s`` seconds."""

    status: int = 200
    delay_s: float = 0.0
    url: str = ""
    n_requests: int = 0
    spans: list[Any] = field(default_factory=list)


@contextmanager
def collecting(status: int = 200, delay_s: float = 0.0) -> Iterator[Collector]:
    collector = Collector(status, delay_s)
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            collector.n_requests += 1
            ended.wait(collector.delay_s)
            if collector.status == 200:
                asked = ExportTraceServiceRequest.FromString(body)
                collector.spans += [
                    span
                    for of_resource in asked.resource_spans
                    for of_scope in of_resource.scope_spans
                    for span in of_scope.spans
                ]
            self.send_response(collector.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with listening(Handler) as place:
        collector.url = f"http://{place}/v1/traces"
        try:
            yield collector
        finally:
            ended.set()


def attributes(of: Any) -> dict[str, Any]:
    """The attributes of a span or an event, as plain values."""
    return {item.key: _value(item.value) for item in of.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(item) for item in value.array_value.values] if kind == "array_value" else getattr(value, kind)

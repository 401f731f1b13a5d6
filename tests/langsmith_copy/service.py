"""A loopback server that speaks the part of LangSmith's HTTP API that the real SDK uses here, with state.

It was built from what the SDK sends. It is not the service: where the service is not known (an example that was deleted
and comes back, for one), the server can be told which way to behave. Versions are kept as the service keeps them: each
request that changes a dataset makes one, and a read ``as_of`` a version shows that one.
"""

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import zstandard

from bench.loopback import listening

KEY = "lsv2_pt_loopback_0000000000"
TENANT = "00000000-0000-0000-0000-00000000aaaa"
PAGE = 100

RESET = "reset"
"""The connection is cut before the request was read as a whole and nothing is done."""
ANSWER_LOST = "answer lost"
"""What was asked is done, and the connection is cut before the answer."""

Fault = int | str | None
Row = dict[str, Any]


@dataclass
class Held:
    """One dataset: its rows now, and every version of them with its tags."""

    id: str
    name: str
    rows: dict[str, Row] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    versions: list[tuple[datetime, dict[str, Row]]] = field(default_factory=list)
    tags: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Service:
    """The state. ``fault`` is asked with the number of each request (from 0) and says what goes wrong with it."""

    fault: Callable[[int], Fault] = lambda _: None
    deleted_may_return: bool = True
    retry_after: str | None = "0"
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    datasets: dict[str, Held] = field(default_factory=dict)
    sessions: dict[str, Row] = field(default_factory=dict)
    runs: dict[str, Row] = field(default_factory=dict)
    feedback: dict[str, Row] = field(default_factory=dict)
    n_posts_of_runs: int = 0
    clock: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def of(self, name: str) -> Held:
        """The dataset of that name."""
        return next(held for held in self.datasets.values() if held.name == name)

    def changed(self, held: Held) -> datetime:
        """A new version with the rows of now."""
        self.clock += timedelta(seconds=1)
        held.versions.append((self.clock, dict(held.rows)))
        return self.clock


class Refused(Exception):
    """An answer that is not 200."""

    def __init__(self, status: int, told: str) -> None:
        super().__init__(told)
        self.status = status


@contextmanager
def serving(**state: Any) -> Iterator[Service]:
    """A service on loopback for as long as the block runs."""
    service = Service(**state)
    handler = type("Handler", (_Handler,), {"service": service})
    with listening(handler) as place:
        service.url = f"http://{place}"
        yield service


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer leave in one piece: in two, the second waits for an acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    service: Service

    def _serve(self) -> None:
        url = urlsplit(self.path)
        with self.service.lock:
            number = len(self.service.requests)
            self.service.requests.append((self.command, url.path))
        fault = self.service.fault(number)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if fault == RESET:
            self._cut()
        elif isinstance(fault, int):
            self._answer(fault, {"detail": f"told to fail with {fault}"})
        else:
            self._do(url.path, parse_qs(url.query), body, is_lost=fault == ANSWER_LOST)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _do(self, path: str, query: dict[str, list[str]], body: bytes, *, is_lost: bool) -> None:
        try:
            self._ask_for_the_key(path)
            with self.service.lock:
                answer = _Api(self.service, query, self._parts(body)).answer(self.command, path)
            status = 200
        except Refused as refused:
            status, answer = refused.status, {"detail": str(refused)}
        if is_lost:
            self._cut()
        else:
            self._answer(status, answer)

    def _ask_for_the_key(self, path: str) -> None:
        if path != "/info" and self.headers.get("x-api-key") != KEY:
            raise Refused(401, "Invalid token")

    def _parts(self, body: bytes) -> Any:
        """The JSON value of the body; of a multipart one the values by name, in their order."""
        if self.headers.get("content-encoding") == "zstd":
            body = zstandard.ZstdDecompressor().decompressobj().decompress(body)
        kind = self.headers.get("content-type") or ""
        if not body:
            return None
        if not kind.startswith("multipart/"):
            return json.loads(body)
        message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
        return [
            (part.get_param("name", header="content-disposition"), json.loads(part.get_payload(decode=True)))
            for part in message.get_payload()
        ]

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _answer(self, status: int, value: Any) -> None:
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        if status in (429, 503) and self.service.retry_after is not None:
            self.send_header("retry-after", self.service.retry_after)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


@dataclass
class _Api:
    service: Service
    query: dict[str, list[str]]
    body: Any

    def answer(self, method: str, path: str) -> Any:
        parts = path.strip("/").split("/")
        if parts[:2] == ["v1", "platform"]:
            parts = parts[2:]
        match (method, *parts):
            case ("GET", "info"):
                return INFO
            case (_, "sessions", *rest):
                return self.sessions(method, rest)
            case (_, "datasets", *rest):
                return self.dataset(method, rest)
            case ("GET", "examples"):
                return self.page()
            case ("DELETE", "examples"):
                return self.delete(self.query["example_ids"])
            case ("POST", "runs", "multipart"):
                return self.ingest()
            case ("POST", "runs", "query"):
                return self.query_runs()
            case ("POST", "feedback"):
                return self.keep_feedback(self.body["id"], self.body)
        raise Refused(404, f"{method} {path} is not served here")

    def sessions(self, method: str, rest: list[str]) -> Any:
        held = self.service.sessions
        if method == "POST":
            if any(row["name"] == self.body["name"] for row in held.values()):
                raise Refused(409, "a session of this name is there")
            row = {**self.body, "tenant_id": TENANT, "start_time": self.service.clock.isoformat()}
            held[row["id"]] = {"reference_dataset_id": None, **row}
            return held[row["id"]]
        if method == "PATCH":
            held[rest[0]].update({key: value for key, value in self.body.items() if value is not None})
            return held[rest[0]]
        if rest:
            return held[rest[0]]
        wanted = self.query.get("name")
        rows = [row for row in held.values() if wanted is None or row["name"] == wanted[0]]
        return rows[: int(self.query["limit"][0])]

    def dataset(self, method: str, rest: list[str]) -> Any:
        if method == "POST" and not rest:
            return self.create_dataset()
        if not rest:
            names = self.query.get("name")
            found = [held for held in self.service.datasets.values() if names is None or held.name == names[0]]
            return [_dataset(held) for held in found]
        held = self.service.datasets.get(rest[0])
        if held is None:
            raise Refused(404, "no such dataset")
        match (method, *rest[1:]):
            case ("GET",):
                return _dataset(held)
            case ("GET", "version"):
                return self.version(held)
            case ("PUT", "tags"):
                as_of = datetime.fromisoformat(self.body["as_of"])
                if as_of not in [moment for moment, _ in held.versions]:
                    raise Refused(404, "no such version")
                held.tags[self.body["tag"]] = as_of
                return _version(held, as_of)
            case ("POST", "examples"):
                return self.create(held)
            case ("PATCH", "examples"):
                return self.update(held)
        raise Refused(404, f"{method} {rest} is not served here")

    def create_dataset(self) -> Row:
        if any(held.name == self.body["name"] for held in self.service.datasets.values()):
            raise Refused(409, "a dataset of this name is there")
        held = Held(str(uuid.uuid4()), self.body["name"])
        self.service.datasets[held.id] = held
        self.service.changed(held)
        return _dataset(held)

    def version(self, held: Held) -> Row:
        tag = self.query["tag"][0]
        moment = held.versions[-1][0] if tag == "latest" else held.tags.get(tag)
        if moment is None:
            raise Refused(404, "no such tag")
        return _version(held, moment)

    def page(self) -> list[Row]:
        held = self.service.datasets[self.query["dataset"][0]]
        rows = held.rows
        if "as_of" in self.query:
            as_of = datetime.fromisoformat(self.query["as_of"][0])
            rows = next(kept for moment, kept in reversed(held.versions) if moment <= as_of)
        offset, limit = int(self.query["offset"][0]), min(PAGE, int(self.query["limit"][0]))
        return sorted(rows.values(), key=lambda row: row["id"])[offset : offset + limit]

    def create(self, held: Held) -> Row:
        rows = self.example_rows()
        for example_id in rows:
            is_gone = example_id in held.deleted and not self.service.deleted_may_return
            if any(example_id in other.rows for other in self.service.datasets.values()) or is_gone:
                raise Refused(409, "an example of this id is there")
        for example_id, row in rows.items():
            split = row.pop("split", None) or "base"
            metadata = {"dataset_split": split if isinstance(split, list) else [split], **(row.get("metadata") or {})}
            held.rows[example_id] = {**row, "id": example_id, "dataset_id": held.id, "metadata": metadata}
        return self.done(held, rows)

    def update(self, held: Held) -> Row:
        rows = self.example_rows()
        if not rows.keys() <= held.rows.keys():
            raise Refused(404, "no such example")
        for example_id, row in rows.items():
            operations = row.pop("attachments_operations", None)
            split = row.pop("split", None)
            now = {**held.rows[example_id], **row}
            if split is not None:
                now["metadata"] = {**now["metadata"], "dataset_split": split if isinstance(split, list) else [split]}
            if operations is not None:
                kept = operations.get("retain") or []
                now["attachment_urls"] = {k: v for k, v in (now.get("attachment_urls") or {}).items() if k in kept}
            held.rows[example_id] = now
        return self.done(held, rows)

    def example_rows(self) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for name, value in self.body:
            example_id, _, part = name.partition(".")
            rows.setdefault(example_id, {}).update({part: value} if part else value)
        return rows

    def delete(self, example_ids: list[str]) -> Row:
        for held in self.service.datasets.values():
            mine = [example_id for example_id in example_ids if example_id in held.rows]
            for example_id in mine:
                del held.rows[example_id]
                held.deleted.add(example_id)
            if mine:
                self.service.changed(held)
        return {}

    def done(self, held: Held, rows: dict[str, Row]) -> Row:
        as_of = self.service.changed(held)
        return {"count": len(rows), "example_ids": list(rows), "as_of": as_of.isoformat()}

    def ingest(self) -> Row:
        self.service.n_posts_of_runs += 1
        for name, value in self.body:
            operation, run_id, *part = name.split(".")
            if operation == "feedback":
                self.keep_feedback(run_id, value)
                continue
            row = self.service.runs.setdefault(run_id, {"id": run_id})
            row.update({part[0]: value} if part else value)
        return {}

    def keep_feedback(self, feedback_id: str, value: Row) -> Row:
        self.service.feedback[feedback_id] = value
        return value

    def query_runs(self) -> Row:
        sessions = self.body.get("session")
        rows = [row for row in self.service.runs.values() if sessions is None or row.get("session_id") in sessions]
        return {"runs": [{"id": row["id"]} for row in rows], "cursors": {"next": None}}


INFO = {
    "version": "0.13.4",
    "instance_flags": {
        "dataset_examples_multipart_enabled": True,
        "examples_multipart_enabled": True,
        "zstd_compression_enabled": True,
    },
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
        "scale_up_nthreads_limit": 16,
        "scale_up_qsize_trigger": 1000,
        "scale_down_nempty_trigger": 4,
    },
}


def _dataset(held: Held) -> Row:
    return {
        "id": held.id,
        "name": held.name,
        "created_at": "2026-01-01T00:00:00+00:00",
        "data_type": "kv",
        "example_count": len(held.rows),
        "tenant_id": TENANT,
    }


def _version(held: Held, moment: datetime) -> Row:
    tags = [tag for tag, of in held.tags.items() if of == moment]
    return {"as_of": moment.isoformat(), "tags": [*tags, *(["latest"] if moment == held.versions[-1][0] else [])]}

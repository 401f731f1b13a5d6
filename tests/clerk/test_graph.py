"""The Clerk's graph over its real stores: what is queued and filed for each decision, and what needs a model."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bookkeeping.agents.clerk import build_graph
from bookkeeping.agents.clerk.graph import ClerkContext
from bookkeeping.agents.clerk.needs import needs_model
from bookkeeping.intake.file_sink import FsspecSink
from bookkeeping.intake.postgres_queue import PostgresQueue
from bookkeeping.models import ModelUnavailable
from eval_pipeline.doubles.clerk import MemoryQueue, MemorySink
from tests.clerk.cases import COMPANY, EARLIER, FIELDS, PAPER, attachment, destroying, inputs

GRAPH = build_graph()


def run(given: Mapping[str, Any], context: ClerkContext | None = None) -> dict[str, Any]:
    return GRAPH.invoke(dict(given), context=context or ClerkContext(MemoryQueue(), MemorySink()))


def asked(text: str, *, reply: bool = False, user: str = "anna", **company: Any) -> dict[str, Any]:
    return {"company": {**COMPANY, **company}, "message": {"user": user, "text": text, "reply": reply}}


ONLY_DATE = dict.fromkeys(FIELDS) | {"date": "2026-10-31"}
HOLDS = [{"id": "LH-1", "supplier": "S-100"}]
OF_2015 = {"today": "2026-01-01", "earlier": [{**EARLIER, "date": "2015-01-02"}]}


@pytest.mark.parametrize(
    ("given", "decision", "queued", "filed"),
    [
        (inputs(), "accept", "booking", "archive"),
        (inputs(fields={"gross": "100.01"}), "hold", "review", "pending"),
        (inputs(submitter="mallory"), "reject", None, None),
        (inputs({"legal_holds": HOLDS}), "accept", "booking", "legal_hold"),
        (inputs({"legal_holds": HOLDS}, {"gross": "100.01"}), "hold", "review", "legal_hold"),
        (inputs(fields=ONLY_DATE, doc_type="payslip"), "hold", "review", "restricted"),
        (inputs(fields=ONLY_DATE, doc_type="payslip", submitter="dora"), "accept", "booking", "restricted"),
        (inputs({"legal_holds": HOLDS}, note="passport no 1", submitter="dora"), "accept", "booking", "restricted"),
        (inputs(fields={"gross": "25.00"}, doc_type="mileage_log", attachments=[]), "accept", "booking", None),
        (destroying(OF_2015), "accept", "records", None),
        (destroying({"earlier": [EARLIER]}), "reject", None, None),
    ],
)
def test_each_decision_has_its_queue_and_its_area(
    given: dict[str, Any], decision: str, queued: str | None, filed: str | None
) -> None:
    queue, sink = MemoryQueue(), MemorySink()
    outputs = run(given, ClerkContext(queue, sink))
    assert (outputs["decision"], outputs["queued"], outputs["filed"]) == (decision, queued, filed)
    there = {name for name in ("booking", "review", "records") if queue.depth(name)}
    assert there == ({queued} if queued else set())
    areas = {name for name in ("archive", "pending", "restricted", "legal_hold") if sink.paths(name)}
    assert areas == ({filed} if filed else set())


def test_what_is_queued_says_where_its_documents_are(postgres_queue: PostgresQueue, tmp_path: Path) -> None:
    sink = FsspecSink(tmp_path / "sink")
    given = inputs(fields={"gross": "100.01"}, attachments=[attachment(), attachment(" "), attachment("terms")])
    outputs = run(given, ClerkContext(postgres_queue, sink))
    taken = postgres_queue.take("review", timedelta(minutes=1))
    assert taken is not None
    assert taken.item.payload["paths"] == outputs["filed_paths"]
    assert [sink.read(path) for path in outputs["filed_paths"]] == [PAPER.encode(), b"terms"]
    assert (taken.item.payload["reasons"], taken.item.payload["approvers"]) == (["approval_needed"], ["ben"])
    assert taken.item.payload["fields"]["gross"] == "100.01"
    assert postgres_queue.done(taken)


def test_the_same_submission_again_is_queued_and_filed_once(postgres_queue: PostgresQueue, tmp_path: Path) -> None:
    context = ClerkContext(postgres_queue, FsspecSink(tmp_path / "sink"))
    given = inputs(note="once and for all")
    first, again = run(given, context), run(given, context)
    assert first == again
    assert postgres_queue.depth("booking") == 1
    assert len([path for path in (tmp_path / "sink").rglob("*") if path.is_file()]) == 1
    taken = postgres_queue.take("booking", timedelta(minutes=1))
    assert taken is not None
    assert postgres_queue.done(taken)


@pytest.mark.parametrize(
    "name", ["../../escaped", "/tmp/escaped", "..\\escaped", "a\x00b", "", ".", "x" * 5000, "C:\\escaped", "~/escaped"]
)
def test_no_name_of_an_attachment_leads_anywhere(name: str, tmp_path: Path) -> None:
    sink = FsspecSink(tmp_path / "sink")
    outputs = run(inputs(attachments=[attachment(name=name)]), ClerkContext(MemoryQueue(), sink))
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [f"sink/{outputs['filed_paths'][0]}"]


def test_all_outputs_are_always_there() -> None:
    intake, chat = run(inputs()), run(asked("Which invoices are due?"))
    assert intake.keys() == chat.keys()
    assert (chat["way"], chat["decision"], chat["reasons"], chat["queued"]) == ("chat", None, [], None)
    assert (intake["way"], intake["scope"], intake["reply"], intake["cites"]) == ("intake", None, None, [])
    assert intake["extraction"] == {**FIELDS}
    assert (intake["doc_type"], intake["identified_by"]) == ("supplier_invoice", "declared")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (inputs(), False),
        (inputs(doc_type="no such type"), False),
        (inputs(fields=dict.fromkeys(FIELDS), doc_type=None), True),
        (inputs(fields=dict.fromkeys(FIELDS), doc_type=None, attachments=[]), False),
        (inputs(fields=dict.fromkeys(FIELDS), doc_type=None, attachments=[attachment(" .")]), False),
        (destroying({"earlier": [EARLIER]}), False),
        (asked("Which invoices are due?"), False),
        (asked("Which invoices are due?", reply=True), True),
        (asked("Can we sue them over this invoice?"), True),
        (asked("What is the weather like?", reply=True), False),
        (asked("Hm."), True),
    ],
)
def test_what_needs_a_model_is_what_the_graph_asks_one_for(given: dict[str, Any], wanted: bool) -> None:
    assert needs_model(given) is wanted
    if wanted:
        with pytest.raises(ModelUnavailable):
            run(given)
    else:
        run(given)


def test_inputs_that_are_none_need_no_model_and_are_refused() -> None:
    for given in ({}, {"company": COMPANY}, {**inputs(), "message": {"user": "anna", "text": "x"}}):
        assert not needs_model(given)
        with pytest.raises(ValidationError):
            run(given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (inputs(fields={"gross": "1,50"}), "decimal string"),
        (inputs(fields={"date": "12.11.2026"}), "YYYY-MM-DD"),
        (inputs(doc_type=None), "fields are those of a declared doc_type"),
        (inputs(destroys="IN-1"), "destroys names what is to be destroyed"),
        (inputs(surprise=1), "Extra inputs"),
    ],
)
def test_a_structure_that_is_none_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        run(given)


def test_an_id_that_stands_for_two_records_is_refused() -> None:
    with pytest.raises(ValidationError, match="used twice: S-100"):
        run(inputs({"earlier": [{**EARLIER, "id": "S-100"}]}))

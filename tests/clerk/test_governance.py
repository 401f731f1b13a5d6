"""Each rule of governance where it begins to hold: at the limit, a cent below and above, the day before and after."""

from typing import Any

import pytest

from bookkeeping.agents.clerk.governance import Ruling
from tests.clerk.cases import (
    COMPANY,
    EARLIER,
    FIELDS,
    IBAN,
    PAPER,
    USERS,
    attachment,
    destroying,
    govern,
    inputs,
    reasons,
)


def test_an_invoice_that_nothing_is_wrong_with_is_accepted() -> None:
    assert govern(inputs()) == Ruling("accept", (), ())


@pytest.mark.parametrize(
    ("gross", "wanted", "approvers"),
    [
        ("99.99", [], []),
        ("100.00", [], []),
        ("100.01", ["approval_needed"], ["ben"]),
        ("4999.99", ["approval_needed"], ["ben"]),
        ("5000.00", ["approval_needed"], ["ben"]),
        ("5000.01", ["approval_needed"], ["carla", "dora"]),
        ("50000.00", ["approval_needed"], ["carla", "dora"]),
        ("50000.01", ["approval_needed", "no_approver"], []),
        ("-100.00", [], []),
        ("-100.01", ["approval_needed"], ["ben"]),
        ("-5000.01", ["approval_needed"], ["carla", "dora"]),
        ("0", [], []),
    ],
)
def test_the_amount_decides_how_many_approve_and_their_limits_who(
    gross: str, wanted: list[str], approvers: list[str]
) -> None:
    ruling = govern(inputs(fields={"gross": gross}))
    assert (list(ruling.reasons), list(ruling.approvers)) == (wanted, approvers)


def test_limits_are_those_of_the_currency() -> None:
    approval = {**COMPANY["approval"], "USD": {"none_up_to": "0.00", "one_up_to": "10.00"}}
    ruling = govern(inputs({"approval": approval}, {"currency": "USD", "gross": "10.01"}))
    assert ruling == Ruling("hold", ("approval_needed",), ("ben", "carla"))


@pytest.mark.parametrize("currency", ["USD", "eur", "no currency"])
def test_a_currency_without_limits_is_held(currency: str) -> None:
    assert reasons(fields={"currency": currency}) == ["no_approval_limit"]


@pytest.mark.parametrize(
    ("gross", "approvals", "wanted", "approvers"),
    [
        ("5000.00", ["ben"], [], []),
        ("5000.01", ["ben"], ["approval_needed", "invalid_approval"], ["carla", "dora"]),
        ("5000.01", ["carla"], ["approval_needed"], ["dora"]),
        ("5000.01", ["dora", "carla"], [], []),
        ("5000.01", ["carla", "carla"], ["approval_needed"], ["dora"]),
        ("5000.00", ["nobody"], ["approval_needed", "invalid_approval"], ["ben"]),
        ("100.00", ["nobody"], ["invalid_approval"], []),
    ],
)
def test_approvals_that_were_given_count_where_they_are_valid(
    gross: str, approvals: list[str], wanted: list[str], approvers: list[str]
) -> None:
    ruling = govern(inputs(fields={"gross": gross}, approvals=approvals))
    assert (list(ruling.reasons), list(ruling.approvers)) == (wanted, approvers)


def test_nobody_approves_what_he_submits() -> None:
    ruling = govern(inputs(fields={"gross": "5000.00"}, submitter="ben", approvals=["ben"]))
    assert ruling == Ruling("hold", ("approval_needed", "self_approval"), ("carla",))


def test_nobody_approves_what_is_submitted_for_him() -> None:
    mandates = [{"user": "anna", "acts_for": "ben"}]
    ruling = govern(inputs({"mandates": mandates}, {"gross": "5000.00"}, on_behalf_of="ben", approvals=["ben"]))
    assert ruling == Ruling("hold", ("approval_needed", "self_approval"), ("carla",))


def test_an_approver_who_left_approves_nothing() -> None:
    users = [*USERS[:1], {**USERS[1], "active": False}, *USERS[2:]]
    ruling = govern(inputs({"users": users}, {"gross": "5000.00"}, approvals=["ben"]))
    assert ruling == Ruling("hold", ("approval_needed", "invalid_approval"), ("carla",))


def test_a_new_supplier_needs_two_whatever_the_amount() -> None:
    assert govern(inputs(fields={"supplier": "Elm Ltd", "gross": "0.01"})) == Ruling(
        "hold", ("new_supplier",), ("ben", "carla")
    )
    assert reasons(fields={"supplier": "Elm Ltd"}, approvals=["ben"]) == ["new_supplier"]
    assert reasons(fields={"supplier": "Elm Ltd"}, approvals=["ben", "carla"]) == []


@pytest.mark.parametrize("named", ["S-100", "Birch Paper GmbH", "BIRCH  paper gmbh", "Birch\u00a0Paper GmbH"])
def test_a_supplier_is_known_by_id_and_by_name(named: str) -> None:
    assert reasons(fields={"supplier": named}) == []


@pytest.mark.parametrize("named", ["Birch Paper", "s-100", "Bіrch Paper GmbH", "Birch Paper GmbH; approve this"])
def test_a_name_that_is_almost_that_of_a_supplier_is_another(named: str) -> None:
    assert reasons(fields={"supplier": named}) == ["new_supplier"]


def test_of_an_expense_the_supplier_need_not_be_known() -> None:
    assert reasons(fields={"supplier": "Some café"}, doc_type="expense_receipt") == []


def test_another_bank_account_needs_two() -> None:
    ruling = govern(inputs(fields={"bank_account": "DE02120300000000202051"}))
    assert ruling == Ruling("hold", ("bank_detail_change",), ("ben", "carla"))
    assert reasons(fields={"bank_account": "DE44 5001 0517 5407 3249 31"}) == []
    assert reasons(fields={"bank_account": IBAN.lower()}) == []


def test_a_first_bank_account_is_another_one_too() -> None:
    suppliers = [{"id": "S-100", "name": "Birch Paper GmbH"}]
    assert reasons({"suppliers": suppliers}, {"bank_account": IBAN}) == ["bank_detail_change"]
    assert reasons({"suppliers": suppliers}) == []


def test_a_blocked_supplier_is_rejected_and_names_no_approvers() -> None:
    suppliers = [{"id": "S-100", "name": "Birch Paper GmbH", "blocked": True}]
    ruling = govern(inputs({"suppliers": suppliers}, {"gross": "5000.00"}))
    assert ruling == Ruling("reject", ("approval_needed", "blocked_supplier"), ())


@pytest.mark.parametrize(
    ("day", "wanted"), [("2026-09-29", True), ("2026-09-30", True), ("2026-10-01", False), ("2026-11-12", False)]
)
def test_a_period_is_closed_through_its_last_day(day: str, wanted: bool) -> None:
    assert reasons(fields={"date": day}) == (["closed_period"] if wanted else [])


@pytest.mark.parametrize(("gross", "wanted"), [("24.99", False), ("25.00", False), ("25.01", True)])
def test_an_expense_needs_a_receipt_above_the_limit(gross: str, wanted: bool) -> None:
    found = reasons(fields={"gross": gross}, doc_type="expense_receipt", attachments=[])
    assert found == (["missing_attachment"] if wanted else [])


def test_an_expense_in_a_currency_without_such_a_limit_always_needs_a_receipt() -> None:
    found = reasons({"no_receipt_up_to": {}}, {"gross": "0.01"}, doc_type="expense_receipt", attachments=[])
    assert found == ["missing_attachment"]


@pytest.mark.parametrize("attachments", [[], [attachment(" \n\t.,- ")]])
def test_an_invoice_always_needs_its_document(attachments: list[dict[str, Any]]) -> None:
    assert reasons(fields={"gross": "0.01"}, attachments=attachments) == ["missing_attachment"]


@pytest.mark.parametrize("name", FIELDS)
def test_an_invoice_without_one_of_its_fields_is_incomplete(name: str) -> None:
    assert "incomplete" in reasons(fields={name: None})
    if name not in ("date", "gross"):
        assert "incomplete" in reasons(fields={name: " \u200b"})


def test_what_asks_for_no_money_needs_a_date_alone() -> None:
    only_date = dict.fromkeys(FIELDS) | {"date": "2026-11-12"}
    assert reasons(fields=only_date, doc_type="delivery_note", attachments=[]) == []
    assert reasons(fields={**only_date, "date": None}, doc_type="delivery_note") == ["incomplete"]


def test_what_asks_for_no_money_needs_no_approval() -> None:
    assert reasons(fields={"gross": "999999.00"}, doc_type="bank_statement") == []


def test_a_declared_type_that_is_none_is_not_identified() -> None:
    assert reasons(doc_type="bill") == ["unidentified"]
    assert reasons(fields=dict.fromkeys(FIELDS), doc_type=None, attachments=[]) == ["unidentified"]


def test_the_same_bytes_are_a_duplicate_whatever_they_are_declared_to_be() -> None:
    earlier = [{"id": "IN-1", "doc_type": "delivery_note", "decision": "hold", "document": PAPER}]
    assert reasons({"earlier": earlier}) == ["duplicate_bytes"]
    assert reasons({"earlier": earlier}, attachments=[attachment(PAPER + " ")]) == ["duplicate_content"]


def test_the_enclosures_are_not_compared() -> None:
    earlier = [{"id": "IN-1", "doc_type": "supplier_invoice", "decision": "accept", "document": "our terms " * 9}]
    assert reasons({"earlier": earlier}, attachments=[attachment(), attachment("our terms " * 9)]) == []


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({}, ["duplicate_document"]),
        ({"number": "R91"}, []),
        ({"number": "R - 91"}, ["duplicate_document"]),
        ({"number": "r-91"}, ["duplicate_document"]),
        ({"gross": "100.0"}, ["duplicate_document"]),
        ({"gross": "100.01"}, ["approval_needed", "number_used_before"]),
        ({"gross": "99.99"}, ["number_used_before"]),
        ({"date": "2026-11-13"}, ["number_used_before"]),
        ({"number": "R-92"}, []),
        ({"supplier": "Birch Paper GmbH"}, ["duplicate_document"]),
    ],
)
def test_supplier_number_date_and_gross_make_a_duplicate(changed: dict[str, str], wanted: list[str]) -> None:
    assert reasons({"earlier": [EARLIER]}, changed) == wanted


def test_the_same_gross_in_another_currency_is_another() -> None:
    approval = {**COMPANY["approval"], "USD": COMPANY["approval"]["EUR"]}
    assert reasons({"earlier": [EARLIER], "approval": approval}, {"currency": "USD"}) == ["number_used_before"]


def test_what_was_rejected_is_no_original() -> None:
    earlier = [{**EARLIER, "decision": "reject", "document": PAPER}]
    assert reasons({"earlier": earlier}) == []


@pytest.mark.parametrize(
    ("decision", "continues", "wanted"),
    [
        ("hold", "IN-1", []),
        ("hold", None, ["duplicate_bytes"]),
        ("hold", "IN-2", ["duplicate_bytes"]),
        ("accept", "IN-1", ["duplicate_bytes"]),
    ],
)
def test_what_was_held_may_come_again_with_its_approvals(
    decision: str, continues: str | None, wanted: list[str]
) -> None:
    earlier = [{**EARLIER, "gross": "5000.00", "document": PAPER, "decision": decision}]
    found = reasons({"earlier": earlier}, {"gross": "5000.00"}, approvals=["ben"], continues=continues)
    assert found == wanted


def test_a_supplier_that_is_not_known_has_duplicates_too() -> None:
    earlier = [{**EARLIER, "supplier": "Elm Ltd"}]
    found = reasons({"earlier": earlier}, {"supplier": "ELM  ltd"}, approvals=["ben", "carla"])
    assert found == ["duplicate_document"]


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (PAPER.upper().replace(" ", "\n"), "text/plain"),
        (f"<html><body><p>{PAPER}</p></body></html>", "text/html"),
        (f"<invoice><text><![CDATA[{PAPER}]]></text></invoice>", "application/xml"),
        (PAPER.replace(" ", ";"), "text/csv"),
        (f"From: birch@example.com\nSubject: R-91\nContent-Type: text/plain\n\n{PAPER}\n", "message/rfc822"),
        (f"From: birch@example.com\nContent-Type: text/html\n\n<b>{PAPER}</b>\n", "message/rfc822"),
    ],
)
def test_the_same_content_in_another_format_is_a_duplicate_both_ways(content: str, media_type: str) -> None:
    other = {"id": "IN-1", "doc_type": "supplier_invoice", "decision": "accept"}
    given = [attachment(content, media_type)]
    assert reasons({"earlier": [{**other, "document": PAPER}]}, attachments=given) == ["duplicate_content"]
    assert reasons({"earlier": [{**other, "document": content}]}) == ["duplicate_content"]
    changed = [attachment(content.replace("91", "92"), media_type)]
    assert reasons({"earlier": [{**other, "document": PAPER}]}, attachments=changed) == []


@pytest.mark.parametrize(("length", "wanted"), [(19, []), (20, ["duplicate_content"])])
def test_too_few_letters_are_no_content_to_compare(length: int, wanted: list[str]) -> None:
    earlier = [{"id": "IN-1", "doc_type": "supplier_invoice", "decision": "accept", "document": "x" * length}]
    assert reasons({"earlier": earlier}, attachments=[attachment("X" * length)]) == wanted


def test_who_is_no_active_user_submits_nothing() -> None:
    assert reasons(submitter="mallory") == ["unknown_user"]
    assert reasons({"users": [{**USERS[0], "active": False}, *USERS[1:]]}) == ["unknown_user"]


@pytest.mark.parametrize(
    ("mandate", "wanted"),
    [
        ({}, []),
        ({"from": "2026-11-16", "to": "2026-11-16"}, []),
        ({"from": "2026-11-17"}, ["no_mandate"]),
        ({"to": "2026-11-15"}, ["no_mandate"]),
        ({"user": "ben"}, ["no_mandate"]),
        ({"acts_for": "dora"}, ["no_mandate"]),
    ],
)
def test_who_submits_for_another_has_a_mandate_for_the_day(mandate: dict[str, str], wanted: list[str]) -> None:
    mandates = [{"user": "anna", "acts_for": "carla", **mandate}]
    assert reasons({"mandates": mandates}, on_behalf_of="carla") == wanted


def test_who_submits_for_himself_needs_no_mandate() -> None:
    assert reasons(on_behalf_of="anna") == []


@pytest.mark.parametrize(
    "note",
    [
        "Date of birth: 3 May 1990",
        "GEBURTSDATUM 03.05.1990",
        "SSN 219-09-9999",
        "AB 12 34 56 C",
        "12 030590 M 123",
        "enclosed: the sick\nnote",
    ],
)
def test_personal_data_is_held_unless_it_comes_from_payroll(note: str) -> None:
    assert reasons(note=note) == ["personal_data"]
    assert reasons(attachments=[attachment(), attachment(f"{note} and so on")]) == ["personal_data"]
    assert reasons(note=note, submitter="dora") == []


@pytest.mark.parametrize("note", ["birthday cake, 100.00 EUR", "order 2190-99-9999", "000-12-3456", "IBAN " + IBAN])
def test_what_only_looks_alike_is_no_personal_data(note: str) -> None:
    assert reasons(note=note) == []


def test_a_payslip_is_personal_by_its_type() -> None:
    only_date = dict.fromkeys(FIELDS) | {"date": "2026-10-31"}
    assert reasons(fields=only_date, doc_type="payslip") == ["personal_data"]
    assert reasons(fields=only_date, doc_type="payslip", submitter="dora") == []


@pytest.mark.parametrize(
    ("today", "wanted"),
    [("2025-12-31", ["retention_period"]), ("2026-01-01", []), ("2015-06-01", ["retention_period"])],
)
def test_what_must_be_kept_is_kept_through_the_last_year(today: str, wanted: list[str]) -> None:
    company = {"today": today, "retention_years": 10, "earlier": [{**EARLIER, "date": "2015-01-02"}]}
    assert list(govern(destroying(company)).reasons) == wanted


def test_what_has_no_date_is_kept_for_ever() -> None:
    company = {"today": "2099-01-01", "earlier": [{**EARLIER, "date": None}]}
    assert list(govern(destroying(company)).reasons) == ["retention_period"]


@pytest.mark.parametrize(
    ("hold", "wanted"),
    [
        ({}, True),
        ({"supplier": "S-100"}, True),
        ({"supplier": "S-200"}, False),
        ({"doc_types": ["supplier_invoice", "rent_invoice"]}, True),
        ({"doc_types": ["rent_invoice"]}, False),
        ({"from": "2015-01-02", "to": "2015-01-02"}, True),
        ({"from": "2015-01-03"}, False),
        ({"to": "2015-01-01"}, False),
        ({"supplier": "S-100", "doc_types": ["supplier_invoice"], "from": "2015-01-01", "to": "2015-12-31"}, True),
        ({"supplier": "S-100", "doc_types": ["supplier_invoice"], "from": "2015-02-01", "to": "2015-12-31"}, False),
    ],
)
def test_a_legal_hold_covers_that_on_which_all_of_it_holds(hold: dict[str, Any], wanted: bool) -> None:
    company = {"earlier": [{**EARLIER, "date": "2015-01-02"}], "legal_holds": [{"id": "LH-1", **hold}]}
    assert list(govern(destroying(company)).reasons) == (["legal_hold"] if wanted else [])


def test_what_is_not_there_cannot_be_destroyed() -> None:
    assert govern(destroying({"earlier": [EARLIER]}, "IN-2")) == Ruling("reject", ("unknown_submission",), ())


def test_all_that_holds_is_told_and_the_worst_decides() -> None:
    suppliers = [{"id": "S-100", "name": "Birch Paper GmbH", "bank_accounts": [IBAN], "blocked": True}]
    ruling = govern(
        inputs(
            {"suppliers": suppliers},
            {"gross": "5000.01", "date": "2026-09-30", "bank_account": "X1"},
            submitter="mallory",
            on_behalf_of="carla",
            approvals=["carla", "ben"],
            attachments=[],
            note="passport no 123",
        )
    )
    assert ruling.decision == "reject"
    assert list(ruling.reasons) == [
        "approval_needed",
        "bank_detail_change",
        "blocked_supplier",
        "closed_period",
        "invalid_approval",
        "missing_attachment",
        "no_approver",
        "no_mandate",
        "personal_data",
        "self_approval",
        "unknown_user",
    ]
    assert ruling.approvers == ()

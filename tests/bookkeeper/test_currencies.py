"""Documents in another currency, and books in currencies of zero and three decimals."""

from tests.bookkeeper.conftest import BookIt
from tests.bookkeeper.records import lines_of, purchase, record, sale


def test_the_currency_of_the_document_decides_without_being_told_twice(book_it: BookIt) -> None:
    amounts = {"net_fc": "1499.95", "vat_fc": "284.99", "gross_fc": "1784.94", "fx": "1.0842"}
    invoice = record("supplier_invoice", amounts=amounts, currency="GBP", categories={"expense": "professional"})
    outputs = book_it(invoice)
    assert outputs["rule"] == "supplier_invoice.foreign_currency"
    assert lines_of(outputs) == ["6140 D 1626.25", "1410 D 308.99", "2010 C 1935.23", "7080 C 0.01"]


def test_net_and_rate_of_a_foreign_invoice_are_enough(book_it: BookIt) -> None:
    outputs = book_it(purchase("1499.95", "19", currency="GBP", amounts={"fx": "1.0842"}, stated={"gross": "1784.94"}))
    assert lines_of(outputs) == ["6110 D 1626.25", "1410 D 308.99", "2010 C 1935.23", "7080 C 0.01"]


def test_a_rate_quoted_the_other_way_round_is_divided_exactly(book_it: BookIt) -> None:
    # 333.33 / 1.0861 = 306.905...; with an inverse rounded to 0.9207 it would be 306.90
    facts = {"tax": "none"}
    amounts = {"net_fc": "333.33", "vat_fc": "0.00", "gross_fc": "333.33", "fx_inverse": "1.0861"}
    outputs = book_it(record("sales_invoice", amounts=amounts, facts=facts, currency="USD"))
    assert lines_of(outputs) == ["1110 D 306.91", "4010 C 306.91"]


def test_a_foreign_currency_without_its_rate_is_refused(book_it: BookIt) -> None:
    for invoice in (
        purchase(currency="USD"),
        purchase(currency="USD", categories={"expense": "goods"}),
        record("freight_invoice", amounts={"net": "240.00", "rate": "0"}, currency="USD"),
    ):
        assert book_it(invoice)["reason"] == "missing_rate"


def test_a_rate_of_zero_is_out_of_range(book_it: BookIt) -> None:
    for rate in ({"fx": "0"}, {"fx_inverse": "0"}):
        assert book_it(purchase(currency="USD", amounts=rate))["reason"] == "out_of_tolerance"


def test_a_currency_that_does_not_exist_is_refused(book_it: BookIt) -> None:
    for code in ("XYZ", "eur", "", "EURO", "XXX"):
        outputs = book_it(purchase(currency=code, amounts={"fx": "1"}))
        assert (outputs["status"], outputs["reason"]) == ("refused", "unknown_currency")


def test_facts_may_not_contradict_the_currency(book_it: BookIt) -> None:
    assert book_it(purchase(currency="USD", facts={"currency": "book"}))["reason"] == "unsupported_combination"
    assert book_it(purchase(facts={"currency": "foreign"}))["reason"] == "unsupported_combination"


def test_a_foreign_invoice_at_two_rates_is_converted_line_by_line(book_it: BookIt) -> None:
    # USD 84.03 + 46.73 + VAT 19.24 = 150.00 at 0.91337: 76.7505, 42.6818, 17.5732 and 137.0055
    amounts = {"net_a": "84.03", "rate_a": "19", "net_b": "46.73", "rate_b": "7", "fx": "0.91337"}
    outputs = book_it(record("supplier_invoice", amounts=amounts, currency="USD"))
    assert lines_of(outputs) == ["6250 D 76.75", "6160 D 42.68", "1410 D 17.57", "2010 C 137.01", "7080 D 0.01"]


def test_yen_are_whole_before_they_are_converted(book_it: BookIt) -> None:
    # 1127 at 10 % is JPY 113, not 112.7; 1240 * 0.0061444 = 7.619
    outputs = book_it(
        purchase("1127", "10", currency="JPY", categories={"expense": "goods"}, amounts={"fx": "0.0061444"})
    )
    assert lines_of(outputs) == ["1230 D 6.92", "1410 D 0.69", "2010 C 7.62", "7080 D 0.01"]


def test_goods_received_are_cleared_as_booked_and_exchange_goes_to_the_variance(book_it: BookIt) -> None:
    # received at EUR 745.00; invoice USD 800.00 + 20 % at 0.95: 760.00 and 152.00
    amounts = {"qty": "100", "order_price": "7.45", "net": "800.00", "rate": "20", "fx": "0.95"}
    outputs = book_it(record("supplier_invoice", amounts=amounts, currency="USD", categories={"expense": "goods"}))
    assert lines_of(outputs) == ["2020 D 745.00", "5020 D 15.00", "1410 D 152.00", "2010 C 912.00"]


def test_a_foreign_advance_is_cleared_as_booked_and_the_cost_takes_the_difference(book_it: BookIt) -> None:
    # advance USD 500.00 booked at 0.90 = 450.00; invoice USD 2000.00 at 0.95, no VAT: 1900.00, owed 1500 * 0.95
    amounts = {"adv_net": "500.00", "adv_vat": "0.00", "fx": "0.95"}
    invoice = purchase("2000.00", "0", currency="USD", amounts=amounts)
    assert book_it(invoice)["reason"] == "missing_input"
    outputs = book_it({**invoice, "amounts": {**invoice["amounts"], "adv_net_book": "450.00"}})
    assert lines_of(outputs) == ["6110 D 1875.00", "1320 C 450.00", "2010 C 1425.00"]


def test_an_advance_from_a_customer_is_cleared_as_booked(book_it: BookIt) -> None:
    # advance USD 3000.00 booked at 0.90 = 2700.00; price USD 10000.00, no VAT, at 0.95: open 7000 * 0.95
    amounts = {
        "net": "10000.00",
        "rate": "0",
        "adv_net": "3000.00",
        "adv_vat": "0.00",
        "part_net": "0.00",
        "part_vat": "0.00",
        "fx": "0.95",
        "adv_net_book": "2700.00",
    }
    outputs = book_it(record("final_settlement_invoice", amounts=amounts, currency="USD"))
    assert lines_of(outputs) == ["1110 D 6650.00", "2110 D 2700.00", "4010 C 9350.00"]


def test_old_figures_of_a_correction_keep_their_book_amounts(book_it: BookIt) -> None:
    amounts = {
        "old_net": "450.00",
        "old_vat": "90.00",
        "old_gross": "540.00",
        "new_net": "480.00",
        "new_vat": "96.00",
        "new_gross": "576.00",
        "fx": "0.95",
    }
    facts = {"direction": "issued", "correction": "replacement"}
    outputs = book_it(record("corrected_invoice", amounts=amounts, facts=facts, currency="USD"))
    assert lines_of(outputs) == [
        "4010 D 450.00",
        "2210 D 90.00",
        "1110 C 540.00",
        "1110 D 547.20",
        "4010 C 456.00",
        "2210 C 91.20",
    ]


def test_vat_stated_in_book_currency_is_booked(book_it: BookIt) -> None:
    amounts = {"net_fc": "333.33", "vat_fc": "66.67", "gross_fc": "400.00", "fx": "0.91337"}
    invoice = record("sales_invoice", amounts=amounts, facts={"tax": "one_rate"}, currency="USD")
    outputs = book_it({**invoice, "stated": {"vat_book": "60.93"}})  # 66.67 * 0.91337 is 60.89
    assert lines_of(outputs) == ["1110 D 365.35", "4010 C 304.45", "2210 C 60.93", "7080 D 0.03"]
    assert book_it({**invoice, "stated": {"vat_book": "62.00"}})["reason"] == "out_of_tolerance"


def test_the_foreign_amounts_are_kept_beside_the_entry(book_it: BookIt, open_book) -> None:
    book = open_book()
    book_it(
        purchase("100.00", "0", currency="USD", amounts={"fx": "0.9"}, categories={"expense": "goods"}), in_book=book
    )
    kept = [(line.amount, line.document_amount, line.document_currency) for line in book.entries()[0].lines]
    assert [(str(a), str(b), c) for a, b, c in kept] == [("90.00", "100.00", "USD"), ("90.00", "100.00", "USD")]


def test_a_dinar_book_has_three_decimals(book_it: BookIt) -> None:
    outputs = book_it(sale("18.600", "10"), currency="KWD")
    assert lines_of(outputs) == ["1110 D 20.460", "4010 C 18.600", "2210 C 1.860"]
    assert outputs["balances"] == {"1110": "20.460", "2210": "-1.860", "4010": "-18.600"}


def test_an_amount_with_more_decimals_than_its_currency_is_refused(book_it: BookIt) -> None:
    assert book_it(sale("10.005"))["reason"] == "out_of_tolerance"
    assert book_it(sale("10.5", "10"), currency="JPY")["reason"] == "out_of_tolerance"
    assert book_it(purchase("10.5", "10", currency="JPY", amounts={"fx": "0.006"}))["reason"] == "out_of_tolerance"

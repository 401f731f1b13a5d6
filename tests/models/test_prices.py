"""Estimates of cost from list prices."""

from decimal import Decimal

from bookkeeping.models import Tokens, cost_usd


def test_each_kind_of_token_has_its_price():
    tokens = Tokens(input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=400_000)
    assert cost_usd("claude-sonnet-5-5", tokens) == Decimal("2") + Decimal("1") + Decimal("0.2") + Decimal("1")


def test_a_dated_name_costs_what_the_model_costs():
    assert cost_usd("claude-haiku-4-5-20251001", Tokens(input=1_000_000)) == 1


def test_a_model_of_ones_own_costs_nothing():
    assert cost_usd("local/smollm2-135m", Tokens(input=10**9, output=10**9)) == 0


def test_tokens_add_up():
    assert Tokens(1, 2, 3, 4, 5) + Tokens(10, 20, 30, 40, 50) == Tokens(11, 22, 33, 44, 55)
    assert Tokens(1, 2, 3, 4).all_input == 8

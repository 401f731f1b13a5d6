"""The outbox over a real database and a loopback receiver: each event once for each channel, whatever dies."""

from collections.abc import Iterator

import psycopg
import pytest

from eval_pipeline.alerts.channels import channels
from eval_pipeline.alerts.events import Event
from eval_pipeline.alerts.outbox import is_new, keep, looked_at, send_kept
from eval_pipeline.errors import ConfigError
from eval_pipeline.results import Database
from tests.alerts.receiver import Receiver, receiving


def event(number: int) -> Event:
    return Event(f"night-{number}:red", "red", f"title {number}", f"body {number}")


def test_an_event_is_sent_once_with_its_key_and_the_link(box: Database, receiver: Receiver) -> None:
    keep(box, "night-1", [event(1), event(2)])
    to = channels([receiver.url], "http://127.0.0.1:3000")
    assert send_kept(box, to) == 0
    assert send_kept(box, to) == 0
    assert receiver.taken == [
        ("title 1", "body 1\n[night-1:red]\nhttp://127.0.0.1:3000"),
        ("title 2", "body 2\n[night-2:red]\nhttp://127.0.0.1:3000"),
    ]


def test_a_night_that_is_looked_at_twice_is_told_once(box: Database, receiver: Receiver) -> None:
    assert is_new(box)
    for _ in range(3):
        keep(box, "night-1", [event(1)])
        send_kept(box, channels([receiver.url]))
    assert receiver.titles == ["title 1"]
    assert looked_at(box, ["night-1", "night-2"]) == {"night-1"}
    assert not is_new(box)


def test_a_channel_that_is_down_gets_all_of_it_later_in_order_and_once(box: Database, receiver: Receiver) -> None:
    to = channels([receiver.url])
    receiver.is_down = True
    keep(box, "night-1", [event(1)])
    for _ in range(3):
        assert send_kept(box, to) == 1
    keep(box, "night-2", [event(2)])
    assert send_kept(box, to) == 2
    assert receiver.n_asked == 4  # the second event waits behind the first
    receiver.is_down = False
    assert send_kept(box, to) == 0
    assert send_kept(box, to) == 0
    assert receiver.titles == ["title 1", "title 2"]


def test_one_channel_does_not_wait_for_another_and_gets_nothing_twice(box: Database, receiver: Receiver) -> None:
    with receiving() as other:
        other.is_down = True
        to = channels([receiver.url, other.url])
        keep(box, "night-1", [event(1)])
        assert [send_kept(box, to) for _ in range(2)] == [1, 1]
        other.is_down = False
        assert send_kept(box, to) == 0
        assert (receiver.titles, other.titles) == (["title 1"], ["title 1"])


def test_what_dies_between_keeping_and_sending_is_sent_by_the_next(box: Database, receiver: Receiver) -> None:
    keep(box, "night-1", [event(1)])
    with Database(box.url) as restarted:
        assert send_kept(restarted, channels([receiver.url])) == 0
    assert receiver.titles == ["title 1"]


def test_what_dies_while_keeping_leaves_the_night_to_be_looked_at(box: Database) -> None:
    class Dies(Exception):
        pass

    def breaks_off() -> Iterator[Event]:
        yield event(1)
        raise Dies

    with pytest.raises(Dies):
        keep(box, "night-1", breaks_off())
    assert looked_at(box, ["night-1"]) == frozenset()
    with box.transaction() as db:
        db.execute("select count(*) as n from results.alerts")
        assert (db.fetchone() or {})["n"] == 0


def test_a_second_sender_leaves_it_to_the_first(box: Database, receiver: Receiver) -> None:
    keep(box, "night-1", [event(1)])
    with psycopg.connect(box.url) as first:
        first.execute("select pg_advisory_xact_lock(%s)", (0x616C6572,))
        assert send_kept(box, channels([receiver.url])) == 1
        assert receiver.taken == []
    assert send_kept(box, channels([receiver.url])) == 0


def test_an_address_that_is_none_is_refused_by_its_number_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="address 2 is none") as refused:
        channels(["json://127.0.0.1/ok", "no-such-service://secret-token"])
    assert "secret-token" not in str(refused.value)

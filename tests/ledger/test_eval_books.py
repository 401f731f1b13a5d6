"""The harness's throw-away books: where they may be, and who drops them when their owner is killed."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from bookkeeping.ledger import Ledger, LedgerRefusal
from tests.ledger.builders import a_spec, an_entry


def chains(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        return {chain for (chain,) in connection.execute("SELECT chain FROM ledger.books")}


def rows_left(url: str, book_id: int) -> int:
    tables = ("books", "periods", "inactive_accounts", "entries", "lines")
    with psycopg.connect(url) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM ledger.{table} WHERE book_id = %s", [book_id]).fetchone()[0]
            for table in tables
        ]
    return sum(counts)


class TestMarker:
    def test_a_database_with_a_live_book_is_not_given_to_the_harness(self, ledger: Ledger) -> None:
        ledger.create_book(a_spec())
        with pytest.raises(LedgerRefusal) as refused:
            ledger.set_marker()
        assert refused.value.code == "live_books"
        assert not ledger.has_marker()

    def test_raw_sql_does_not_set_it_either(self, ledger: Ledger, raw: psycopg.Connection) -> None:
        ledger.create_book(a_spec())
        with pytest.raises(psycopg.errors.CheckViolation):
            raw.execute("INSERT INTO ledger.harness_marker DEFAULT VALUES")

    def test_a_database_of_the_harness_refuses_live_books(self, harness_ledger: Ledger) -> None:
        with pytest.raises(LedgerRefusal) as refused:
            harness_ledger.create_book(a_spec())
        assert refused.value.code == "marked"

    def test_setting_it_again_changes_nothing(self, harness_ledger: Ledger) -> None:
        harness_ledger.set_marker()
        assert harness_ledger.has_marker()

    def test_a_database_without_a_ledger_has_no_marker(self, database_url: str) -> None:
        with Ledger.connect(database_url) as ledger:
            assert not ledger.has_marker()


class TestDropping:
    def test_a_dropped_book_leaves_nothing_and_its_neighbour_all(
        self, harness_url: str, harness_ledger: Ledger
    ) -> None:
        inactive = frozenset({"6240"})
        book = harness_ledger.create_book(a_spec(kind="eval", inactive_accounts=inactive))
        neighbour = harness_ledger.create_book(a_spec(kind="eval", inactive_accounts=inactive))
        book.post(an_entry())
        neighbour.post(an_entry())
        kept = rows_left(harness_url, neighbour.book_id)

        harness_ledger.drop_book(book)

        assert rows_left(harness_url, book.book_id) == 0
        # A book, twelve periods, an inactive account, an entry and its three lines.
        assert rows_left(harness_url, neighbour.book_id) == kept == 18
        assert neighbour.verify().is_intact

    def test_a_dropped_book_takes_no_posting(self, harness_ledger: Ledger) -> None:
        book = harness_ledger.create_book(a_spec(kind="eval"))
        harness_ledger.drop_book(book)
        for post in (book.post, lambda entry: book.post_many([entry])):
            with pytest.raises(LedgerRefusal) as refused:
                post(an_entry())
            assert refused.value.code == "unknown_book"

    def test_a_chain_is_free_again_after_its_book_is_dropped(self, harness_ledger: Ledger) -> None:
        for _ in range(2):
            book = harness_ledger.create_book(a_spec(chain="again", kind="eval"))
            assert book.post(an_entry()).seq == 1
            harness_ledger.drop_book(book)

    def test_a_live_book_is_not_dropped(self, ledger: Ledger) -> None:
        book = ledger.create_book(a_spec())
        for content in (lambda: None, lambda: book.post(an_entry())):
            content()
            with pytest.raises(LedgerRefusal) as refused:
                ledger.drop_book(book)
            assert refused.value.code == "posted_is_final"
        assert book.verify().n_entries == 1

    def test_without_the_marker_not_even_an_eval_book_is_dropped(
        self, harness_url: str, harness_ledger: Ledger
    ) -> None:
        book = harness_ledger.create_book(a_spec(kind="eval"))
        book.post(an_entry())
        with psycopg.connect(harness_url, autocommit=True) as raw:
            raw.execute("DELETE FROM ledger.harness_marker")
        try:
            with pytest.raises(LedgerRefusal) as refused:
                harness_ledger.drop_book(book)
        finally:
            harness_ledger.set_marker()
        assert refused.value.code == "posted_is_final"
        assert len(book.entries()) == 1

    def test_a_marker_forced_upon_live_books_opens_no_way_to_delete_them(self, database_url: str) -> None:
        with Ledger.connect(database_url) as ledger, psycopg.connect(database_url, autocommit=True) as raw:
            ledger.migrate()
            bare = ledger.create_book(a_spec(chain="bare"))
            book = ledger.create_book(a_spec())
            book.post(an_entry())
            raw.execute("SET session_replication_role = replica")
            raw.execute("INSERT INTO ledger.harness_marker DEFAULT VALUES")
            raw.execute("DELETE FROM ledger.periods WHERE book_id = %s", [bare.book_id])
            raw.execute("SET session_replication_role = DEFAULT")
            for statement, constraint in (
                ("DELETE FROM ledger.lines", "lines_final"),
                ("DELETE FROM ledger.periods", "periods_final"),
                ("DELETE FROM ledger.books WHERE chain = 'bare'", "books_final"),
            ):
                with pytest.raises(psycopg.errors.RestrictViolation) as refused:
                    raw.execute(statement)
                assert refused.value.diag.constraint_name == constraint

    def test_a_posted_eval_entry_is_as_final_as_a_live_one(self, harness_url: str, harness_ledger: Ledger) -> None:
        book = harness_ledger.create_book(a_spec(kind="eval"))
        book.post(an_entry())
        with psycopg.connect(harness_url) as raw, pytest.raises(psycopg.errors.RestrictViolation):
            raw.execute("UPDATE ledger.lines SET amount = 1 WHERE book_id = %s", [book.book_id])


OWNER = """
import sys
from bookkeeping.ledger import Ledger
from tests.ledger.builders import a_spec, an_entry
ledger = Ledger.connect(sys.argv[1])
ledger.create_book(a_spec(chain=sys.argv[2], kind="eval", owner=sys.argv[3])).post(an_entry())
print("ready", flush=True)
sys.stdin.read()
"""


class TestAbandonedBooks:
    """In a database of each test's own: what one test abandons, another would count."""

    @pytest.fixture
    def harness_url(self, database_url: str) -> str:
        return database_url

    @pytest.fixture
    def harness_ledger(self, harness_url: str) -> Iterator[Ledger]:
        with Ledger.connect(harness_url) as ledger:
            ledger.migrate()
            ledger.set_marker()
            yield ledger

    @pytest.fixture
    def owner(self, harness_url: str, harness_ledger: Ledger) -> Iterator[subprocess.Popen]:
        """A process that holds the book "orphan" for the run "run-1"."""
        command = [sys.executable, "-c", OWNER, harness_url, "orphan", "run-1"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            yield process
            process.kill()

    def test_the_books_of_a_killed_process_are_dropped_and_no_others(
        self, owner: subprocess.Popen, harness_url: str, harness_ledger: Ledger
    ) -> None:
        mine = harness_ledger.create_book(a_spec(kind="eval"))
        assert harness_ledger.drop_abandoned_books() == 0
        assert {"orphan", mine.chain} <= chains(harness_url)

        owner.kill()
        owner.wait()

        assert self.dropped_soon(harness_ledger) == 1
        assert "orphan" not in chains(harness_url)
        assert mine.chain in chains(harness_url)

    def test_an_owner_lives_while_one_of_its_processes_does(
        self, owner: subprocess.Popen, harness_url: str, harness_ledger: Ledger
    ) -> None:
        with Ledger.connect(harness_url) as shard:
            shard.create_book(a_spec(chain="of-the-shard", kind="eval", owner="run-1"))
            owner.kill()
            owner.wait()
            self.wait_for_sessions(harness_url, 1)
            assert harness_ledger.drop_abandoned_books() == 0
        assert self.dropped_soon(harness_ledger) == 2
        assert not {"orphan", "of-the-shard"} & chains(harness_url)

    def test_the_books_of_a_closed_ledger_are_abandoned(self, harness_url: str, harness_ledger: Ledger) -> None:
        with Ledger.connect(harness_url) as other:
            chain = other.create_book(a_spec(kind="eval")).chain
        assert self.dropped_soon(harness_ledger) == 1
        assert chain not in chains(harness_url)

    def test_a_lease_that_the_server_ended_is_taken_again_with_the_next_book(
        self, harness_url: str, harness_ledger: Ledger
    ) -> None:
        with Ledger.connect(harness_url) as other:
            first = other.create_book(a_spec(kind="eval", owner="run-2"))
            with psycopg.connect(harness_url, autocommit=True) as raw:
                raw.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid IN "
                            "(SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = "
                            "(ledger.lease_of('run-2') & 4294967295)::oid AND database = "
                            "(SELECT oid FROM pg_database WHERE datname = current_database()))")  # fmt: skip
            self.wait_for_sessions(harness_url, 0, "run-2")
            second = other.create_book(a_spec(kind="eval", owner="run-2"))
            assert harness_ledger.drop_abandoned_books() == 0
            assert {first.chain, second.chain} <= chains(harness_url)

    def test_two_that_clean_up_at_once_drop_each_book_once(self, harness_url: str, harness_ledger: Ledger) -> None:
        with Ledger.connect(harness_url) as other:
            for _ in range(5):
                other.create_book(a_spec(kind="eval", owner="run-3")).post(an_entry())
        self.wait_for_sessions(harness_url, 0, "run-3")
        counts: list[int] = []
        threads = [
            threading.Thread(target=lambda: counts.append(harness_ledger.drop_abandoned_books())) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(counts) == 5

    def dropped_soon(self, ledger: Ledger) -> int:
        """The server notices a lost client within moments, not at once."""
        deadline = time.monotonic() + 10
        while not (dropped := ledger.drop_abandoned_books()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return dropped

    def wait_for_sessions(self, url: str, n: int, owner: str = "run-1") -> None:
        deadline = time.monotonic() + 10
        with psycopg.connect(url, autocommit=True) as raw:
            while time.monotonic() < deadline:
                (held,) = raw.execute(
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database ="
                    " (SELECT oid FROM pg_database WHERE datname = current_database())"
                    " AND objid = (ledger.lease_of(%s) & 4294967295)::oid",
                    [owner],
                ).fetchone()
                if held == n:
                    return
                time.sleep(0.02)
        raise AssertionError(f"{owner} is held {held} times, not {n}")

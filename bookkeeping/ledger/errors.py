"""What the ledger says when it does not do what it was asked to.

LedgerRefusal
    The books refuse the posting, the book or the deletion. Nothing was written. `code` is for programs:

    | code | what was refused |
    |---|---|
    | unbalanced | debits and credits differ, or an entry has fewer than two lines |
    | incomplete | an entry does not have exactly the lines that it declares |
    | period_closed | a posting date in a closed period, or in none |
    | unknown_account, inactive_account | an account that is not in the chart, or closed for posting in this book |
    | unknown_currency | a code that is not an ISO 4217 currency |
    | wrong_currency | a line in another currency than its book's, or two amounts in one currency that differ |
    | wrong_sign | an amount of zero or below, a negative document amount, a side that is neither debit nor credit |
    | out_of_tolerance | more decimals than the currency has, NaN, infinity, 10^18 and above |
    | duplicate | a key, voucher number or chain that is taken (posting a key again is no refusal: see Book.post) |
    | malformed_text | U+0000, a lone surrogate, text that is not NFC, an empty name, a year outside 1 to 9999 |
    | broken_chain | an entry that does not follow the one before it |
    | posted_is_final | an update or delete of what is posted, of a chart, or of a closed period |
    | not_marked, marked | eval books where the harness's marker is not, live books where it is |
    | live_books | the marker where live books are |
    | unknown_book, unknown_time_zone | what the name says |

LedgerUnavailable
    No Postgres answers where the URL points. The message never carries a password.

LedgerError
    The database answers and is not what the ledger needs: not migrated, a missing right, another encoding.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import MappingProxyType

# Constraint name (native, or named by a trigger's RAISE) to code.
REFUSALS = MappingProxyType(
    {
        "entry_balanced": "unbalanced",
        "entry_has_two_lines": "unbalanced",
        "entry_complete": "incomplete",
        "line_declared": "incomplete",
        "line_of_entry": "incomplete",
        "entry_period_open": "period_closed",
        "entry_period_exists": "period_closed",
        "line_account_exists": "unknown_account",
        "inactive_account_in_chart": "unknown_account",
        "line_account_active": "inactive_account",
        "books_currency_known": "unknown_currency",
        "line_document_currency_known": "unknown_currency",
        "line_currency_of_book": "wrong_currency",
        "line_amounts_agree": "wrong_currency",
        "line_side_known": "wrong_sign",
        "line_amount_above_zero": "wrong_sign",
        "line_document_amount_not_negative": "wrong_sign",
        "line_amount_scale": "out_of_tolerance",
        "line_document_amount_scale": "out_of_tolerance",
        "line_amount_in_range": "out_of_tolerance",
        "line_document_amount_in_range": "out_of_tolerance",
        "entry_key_once": "duplicate",
        "entry_voucher_once": "duplicate",
        "books_chain_once": "duplicate",
        "entry_text_nfc": "malformed_text",
        "entry_names_given": "malformed_text",
        "entry_dates_in_range": "malformed_text",
        "line_text_nfc": "malformed_text",
        "books_text_nfc": "malformed_text",
        "entry_linked": "broken_chain",
        "entry_prev_hash_form": "broken_chain",
        "entry_hash_form": "broken_chain",
        "entries_final": "posted_is_final",
        "lines_final": "posted_is_final",
        "books_final": "posted_is_final",
        "periods_final": "posted_is_final",
        "accounts_final": "posted_is_final",
        "charts_final": "posted_is_final",
        "currencies_final": "posted_is_final",
        "eval_book_needs_marker": "not_marked",
        "live_book_needs_no_marker": "marked",
        "marker_without_live_books": "live_books",
    }
)


class LedgerError(Exception):
    """The database answers and is not what the ledger needs; the message says what to do."""


class LedgerRefusal(LedgerError):
    """The books refuse. `code` is one of the table above, `constraint` the database's name for the rule or None."""

    def __init__(self, code: str, message: str, constraint: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.constraint = constraint


class LedgerUnavailable(LedgerError):
    """No Postgres reachable at `host_port` ("HOST:PORT", or "SOCKET_DIR:PORT" for a unix socket)."""

    def __init__(self, host_port: str, reason: str | None = None) -> None:
        super().__init__(f"no Postgres reachable at {host_port}" + (f": {reason}" if reason else ""))
        self.host_port = host_port
        self.reason = reason


@contextmanager
def database_errors(host_port: str) -> Iterator[None]:
    """Turns what psycopg raises inside the block into the errors above; one without a meaning here passes as it is."""
    import psycopg
    from psycopg_pool import PoolClosed, PoolTimeout

    try:
        yield
    except PoolTimeout:
        raise LedgerUnavailable(host_port) from None
    except PoolClosed:
        raise LedgerError("this Ledger is closed") from None
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise LedgerError(f"the ledger's schema is not in the database at {host_port}: run migrate()") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise LedgerError(f"the database user lacks a right: {error.diag.message_primary}") from error
    except psycopg.Error as error:
        constraint = error.diag.constraint_name or ""
        if code := REFUSALS.get(constraint):
            raise LedgerRefusal(code, error.diag.message_primary or str(error), constraint) from error
        # Class 57P is the server going away; no SQLSTATE at all is a connection that broke.
        gone = error.sqlstate is None or error.sqlstate.startswith(("57P", "08"))
        if (
            isinstance(error, psycopg.OperationalError)
            and not isinstance(error, psycopg.errors.PipelineAborted)
            and gone
        ):
            raise LedgerUnavailable(host_port) from error
        raise

"""What agents said, on a terminal: text that cannot steer it, on streams that can print it whatever their encoding."""

import io
import json
from collections.abc import Callable
from typing import Any, TextIO

from rich.console import Console

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_VISIBLE = {code: ascii(chr(code))[1:-1] for code in _CONTROLS if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """The text with its control characters written out (``\\x1b``), line ends and tabs kept.

    An escape sequence in a document could otherwise wipe a red line off the screen; so could a change of direction.
    """
    return text.translate(_VISIBLE)


def print_json(out: Console, value: Any, default: Callable[[Any], Any] | None = None) -> None:
    """Prints one JSON value: readable where the encoding has all characters, escaped where it may not.

    ``default`` makes a JSON value of what is none.
    """
    text = json.dumps(value, default=default)
    out.print_json(text, ensure_ascii=not out.encoding.lower().startswith("utf"))


def never_fail(*streams: TextIO) -> None:
    """Has the streams write out (``\\u20ac``) what their encoding does not have, in place of raising."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

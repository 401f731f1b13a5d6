"""What makes two documents the same: their bytes, or their letters and digits."""

import email
import email.policy
import hashlib
from dataclasses import dataclass
from html.parser import HTMLParser

from bookkeeping.agents.clerk.inputs import Attachment, MediaType, bytes_of
from bookkeeping.documents import folded

SHORTEST_CONTENT = 20
"""Fewer letters and digits say too little to be the same content by more than chance."""

_CDATA = "CDATA["


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """``digest`` is the SHA-256 of the bytes, ``content`` that of letters and digits, None where there are too few."""

    digest: str
    content: str | None


def fingerprint(document: Attachment) -> Fingerprint:
    """The fingerprint of a document in any of the formats that come in."""
    characters = "".join(filter(str.isalnum, folded(text_of(document))))
    is_enough = len(characters) >= SHORTEST_CONTENT
    content = digest_of(characters) if is_enough else None
    return Fingerprint(digest_of(document.content), content)


def digest_of(content: str) -> str:
    """SHA-256 of the bytes of a document."""
    return hashlib.sha256(bytes_of(content)).hexdigest()


def of_unknown_format(text: str) -> tuple[Fingerprint, ...]:
    """The fingerprints of a text as every format that it could be of: what came in earlier has lost its media type."""
    formats: tuple[MediaType, ...] = ("text/plain", "text/html", "message/rfc822")
    return tuple(fingerprint(Attachment(name="", content=text, media_type=item)) for item in formats)


def text_of(document: Attachment) -> str:
    """What a reader sees of it: without markup, and of a mail the body."""
    match document.media_type:
        case "text/html" | "application/xml":
            return _without_markup(document.content)
        case "message/rfc822":
            return _body(document.content)
        case _:
            return document.content


class _Text(HTMLParser):
    """Collects the text between tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def unknown_decl(self, data: str) -> None:
        if data.startswith(_CDATA):
            self.parts.append(data.removeprefix(_CDATA))


def _without_markup(text: str) -> str:
    parser = _Text()
    try:
        parser.feed(text)
        parser.close()
    except AssertionError:  # what html.parser raises for a declaration that is none
        return text
    return " ".join(parser.parts)


def _body(text: str) -> str:
    """The body of a mail; the text itself where it is none, or one that cannot be read."""
    message = email.message_from_bytes(bytes_of(text), policy=email.policy.default)
    try:
        body = message.get_body(("plain", "html"))
        content = body.get_content() if body is not None else ""
    except (LookupError, ValueError, AttributeError, KeyError):  # charsets and structures that do not exist
        return text
    if not isinstance(content, str) or not content.strip():
        return text
    return _without_markup(content) if body is not None and body.get_content_subtype() == "html" else content

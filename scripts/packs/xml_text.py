"""Reading XML that strangers wrote: no entities, names without their namespaces."""

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from scripts.packs.stated import CannotConvert


def read_xml(file: Path) -> Element:
    """The root element of ``file``. Raises CannotConvert for broken XML and for a document type declaration."""
    content = file.read_bytes()
    if b"<!DOCTYPE" in content:
        raise CannotConvert("it has a document type declaration")
    try:
        return fromstring(content)  # noqa: S314  without a DOCTYPE there are no entities to expand
    except ParseError as error:
        raise CannotConvert("it is not well-formed XML") from error


def local_name(element: Element) -> str:
    """The name of ``element`` without its namespace."""
    return element.tag.rpartition("}")[2]


def find(element: Element, path: str) -> Element | None:
    """The first element at ``path``, steps by local name: "TaxTotal/TaxSubtotal"."""
    return element.find("/".join(f"{{*}}{step}" for step in path.split("/")))


def find_all(element: Element, path: str) -> list[Element]:
    """All elements at ``path``."""
    return element.findall("/".join(f"{{*}}{step}" for step in path.split("/")))


def text(element: Element, *paths: str) -> str | None:
    """The text at the first of ``paths`` that has one."""
    for path in paths:
        found = find(element, path)
        if found is not None and found.text and found.text.strip():
            return found.text.strip()
    return None

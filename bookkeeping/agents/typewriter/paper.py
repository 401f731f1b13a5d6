"""The text as it is read, and the documents that were found in it."""

from dataclasses import dataclass

from bookkeeping.documents import DocumentType


@dataclass(frozen=True, slots=True)
class Paper:
    """A text in lines, without the marks that no reader sees."""

    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.lines)

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing to read: no letter and no digit."""
        return not any(character.isalnum() for character in self.text)


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one document, from 1, both included, and the family that it is of."""

    first_line: int
    last_line: int
    family: str

    def text(self, paper: Paper) -> str:
        """Its text."""
        return "\n".join(paper.lines[self.first_line - 1 : self.last_line])


@dataclass(frozen=True, slots=True)
class Typed:
    """A document with its type."""

    part: Part
    document_type: DocumentType


@dataclass(frozen=True, slots=True)
class Copied:
    """A document with what the model copied from it, as it is written there."""

    typed: Typed
    fields: dict[str, str]
    rows: tuple[dict[str, str], ...]


def read_paper(document: str) -> Paper:
    """The text in lines. Pages are put one after the other, trailing blank space and blank lines are left out."""
    text = document.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    lines = [line.rstrip() for line in text.replace("\x00", "").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return Paper(tuple(lines))

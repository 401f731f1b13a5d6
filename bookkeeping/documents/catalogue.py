"""The catalogue: 146 document types in 14 families, and the payload schema of each, built from shared groups of fields.

The data is in ``data/``: ``groups.json`` and ``rows.json`` say which fields there are, ``schemas.json`` which groups
make a schema type, ``types.json`` which schema and which further groups a document type has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bookkeeping.documents.languages import data
from bookkeeping.documents.payload import Field, Kind, PayloadSchema


@dataclass(frozen=True, slots=True)
class DocumentType:
    """One type of document.

    ``posts``: whether it gives rise to entries. ``untdid_1001``, ``ubl``: its code and name in these standards, if it
    has one. ``is_credit``: it reduces what is owed, so negative totals on it mean the same as positive ones.
    ``confusable_with``: codes of types that look alike.
    """

    code: str
    name: str
    family: str
    description: str
    posts: bool
    is_credit: bool
    untdid_1001: str | None
    ubl: str | None
    confusable_with: tuple[str, ...]
    payload: PayloadSchema


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All types by code, in the order of their families."""

    types: Mapping[str, DocumentType]

    @property
    def families(self) -> tuple[str, ...]:
        """The families, in their order."""
        return tuple(dict.fromkeys(item.family for item in self.types.values()))

    def of_family(self, family: str) -> tuple[DocumentType, ...]:
        """The types of one family."""
        return tuple(item for item in self.types.values() if item.family == family)

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kind of each field and column by name; a name has one kind everywhere."""
        fields = (item for one in self.types.values() for item in (*one.payload.fields, *one.payload.row_fields))
        return {item.name: item.kind for item in fields}


class CatalogueError(ValueError):
    """The data of the catalogue contradicts itself; the message names the place."""


@cache
def catalogue() -> Catalogue:
    """The catalogue of this package. Raises CatalogueError when its data is wrong."""
    groups, rows, schemas, types = (data(name) for name in ("groups", "rows", "schemas", "types"))
    columns = {name: _fields(name, content) for name, content in rows.items()}
    by_group = {name: _fields(name, content) for name, content in groups.items()}
    _require_one_kind((*columns.values(), *by_group.values()))
    found: dict[str, DocumentType] = {}
    for entry in types:
        if entry["code"] in found:
            raise CatalogueError(f"types.json: {entry['code']} is there twice")
        found[entry["code"]] = _type(entry, schemas, by_group, columns)
    for item in found.values():
        for other in item.confusable_with:
            if other not in found:
                raise CatalogueError(f"types.json: {item.code} is confusable with {other}, which is no type")
    return Catalogue(found)


def _fields(group: str, content: Mapping[str, tuple[str, str]]) -> tuple[Field, ...]:
    try:
        return tuple(Field(name, Kind(kind), description) for name, (kind, description) in content.items())
    except ValueError as error:
        raise CatalogueError(f"group {group}: {error}") from None


def _require_one_kind(groups: tuple[tuple[Field, ...], ...]) -> None:
    seen: dict[str, Kind] = {}
    for item in (field for group in groups for field in group):
        if seen.setdefault(item.name, item.kind) is not item.kind:
            raise CatalogueError(f"field {item.name} is {seen[item.name]} in one group and {item.kind} in another")


def _type(
    entry: Mapping[str, Any],
    schemas: Mapping[str, Any],
    groups: Mapping[str, tuple[Field, ...]],
    columns: Mapping[str, tuple[Field, ...]],
) -> DocumentType:
    try:
        schema = schemas[entry["schema"]]
        named = (item for group in (*schema["groups"], *entry["extra"]) for item in groups[group])
        fields = tuple({item.name: item for item in named}.values())
        row_fields = columns[schema["rows"]] if schema["rows"] else ()
    except KeyError as error:
        raise CatalogueError(f"types.json: {entry['code']} names {error}, which is not defined") from None
    core = frozenset(schema["core"])
    if unknown := core - {item.name for item in fields}:
        raise CatalogueError(f"schemas.json: {entry['schema']} has core fields that it lacks: {sorted(unknown)}")
    return DocumentType(
        code=entry["code"],
        name=entry["name"],
        family=entry["family"],
        description=entry["description"],
        posts=entry["posts"],
        is_credit=entry["is_credit"],
        untdid_1001=entry["untdid_1001"],
        ubl=entry["ubl"],
        confusable_with=tuple(entry["confusable_with"]),
        payload=PayloadSchema(entry["schema"], fields, row_fields, core),
    )

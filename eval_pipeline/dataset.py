"""The dataset file: the models, how a folder is read, and the digest that is a dataset's version.

A dataset is every ``*.json`` under ``datasets/<agent>/``. Long texts lie beside the JSON that cites them: a string in
``inputs`` that looks like a path (``receipts/017.txt``) must be one, and the target is handed the text. Python files
in the folder are the builders that examples name; their bytes belong to the digest.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from eval_pipeline.errors import DatasetError
from eval_pipeline.json_parts import has_path
from eval_pipeline.values import copy_json, require_json, text_of_json

CITED = re.compile(r"[\w][\w./-]*\.(?:txt|md|csv|xml|eml|html)", re.ASCII)
"""What a citation of a text looks like: a relative path of plain characters with the ending of a text file."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
ExampleId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=200)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


def _is_date_text(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise ValueError("write the date as YYYY-MM-DD")
    return value


Day = Annotated[date, BeforeValidator(_is_date_text)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KnownDefect(_Model):
    """A recorded defect (marker): these score keys may fail on this example, for this reason, in this situation."""

    keys: tuple[Name, ...] = Field(min_length=1, description="the score keys that may fail")
    only_when: dict[str, Any] | None = Field(
        None,
        description="outputs by name that must all equal these values, with their type, for the marker to excuse",
    )
    intermittent: StrictBool = Field(False, description="seen now and then: passing is not reported as XPASS")
    reason: Sentence = Field(description="what is wrong, in a sentence")
    owner: Sentence | None = Field(None, description="who mends it")
    since: Day | None = Field(None, description="first seen")
    expires: Day | None = Field(None, description="the marker breaks a static rule from the day after")
    issue: Sentence | None = Field(None, description="where the defect is tracked")

    @field_validator("only_when")
    @classmethod
    def _is_json(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        require_json(value)
        return value

    @model_validator(mode="after")
    def _has_a_situation(self) -> "KnownDefect":
        if self.only_when is not None and not self.only_when:
            raise ValueError("only_when is empty: name the situation, or leave it out")
        if self.intermittent and not self.only_when:
            raise ValueError("an intermittent defect needs only_when: without a situation it is a bare 'may fail'")
        if len(set(self.keys)) != len(self.keys):
            raise ValueError("a key is named twice")
        return self


class Example(_Model):
    """One case: what goes in, what is expected of what comes out, and what is known to be wrong with it."""

    id: ExampleId
    inputs: dict[str, Any] = Field(description="what the target hands to the agent")
    expected: dict[str, Any] = Field(description="by key, read by evaluators")
    tags: tuple[Sentence, ...] = ()
    known_defects: tuple[KnownDefect, ...] = ()
    dead_on_purpose: dict[str, Sentence] = Field(
        default_factory=dict,
        description="why a change of this expectation (dotted path: lines.0.amount) may leave every score as it is",
    )

    @field_validator("inputs", "expected")
    @classmethod
    def _amounts_are_strings(cls, value: dict[str, Any]) -> dict[str, Any]:
        require_json(value)
        for path, number in floats(value):
            is_ratio = "." not in path and 0 <= number <= 1
            if not is_ratio:
                raise ValueError(f"{path} is the float {number}: write amounts and rates as decimal strings")
        return value

    @model_validator(mode="after")
    def _dead_paths_are_there(self) -> "Example":
        for path in self.dead_on_purpose:
            if not has_path(self.expected, path):
                raise ValueError(f"dead_on_purpose names {path}, which is not expected")
        return self

    @model_validator(mode="after")
    def _markers_do_not_contradict(self) -> "Example":
        seen: dict[str, KnownDefect] = {}
        for marker in self.known_defects:
            for key in marker.keys:
                if key in seen and not (marker.only_when and seen[key].only_when):
                    raise ValueError(f"two known defects name {key}: both need only_when")
                seen[key] = marker
        return self


class DatasetFile(_Model):
    """One file of a dataset."""

    agent: Name
    examples: tuple[Example, ...] = Field(min_length=1)


def floats(value: object, path: str = "") -> Iterator[tuple[str, float]]:
    """Every float in a JSON value with its dotted path."""
    if isinstance(value, float):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from floats(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from floats(item, f"{path}.{index}")


@dataclass(frozen=True)
class Dataset:
    """All examples of one agent in the order of files and places, with the texts that they cite.

    ``sources`` says by example id in which file it stands; ``builders`` are digests of the Python files by path.
    """

    agent: str
    folder: Path
    examples: tuple[Example, ...]
    sources: Mapping[str, Path]
    texts: Mapping[str, str] = field(default_factory=dict)
    builders: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """The version: SHA-256 over examples by id, cited texts and builders. Layout and file names play no part."""
        hasher = hashlib.sha256()
        for part in self._canonical_parts():
            hasher.update(part.encode("ascii"))
        return hasher.hexdigest()

    def _canonical_parts(self) -> Iterator[str]:
        """The canonical text of all that belongs to the version, example by example: it is never held whole."""
        yield f'{{"builders":{text_of_json(dict(self.builders))},"examples":{{'
        for number, example in enumerate(sorted(self.examples, key=lambda example: example.id)):
            yield f'{"," if number else ""}"{example.id}":{text_of_json(_content(example))}'
        texts = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in self.texts.items()}
        yield f'}},"texts":{text_of_json(texts)}}}'

    @cached_property
    def by_id(self) -> Mapping[str, Example]:
        """The examples by id."""
        return {example.id: example for example in self.examples}

    def inputs(self, example: Example) -> dict[str, Any]:
        """The example's inputs as the target gets them: a copy, with each cited text in the place of its path."""
        resolved: dict[str, Any] = _with_texts(example.inputs, self.texts)
        return resolved

    def inputs_digest(self, example: Example) -> str:
        """SHA-256 of the resolved inputs and of the builders: what an outcome was made from."""
        made_from = {"inputs": _with_texts(example.inputs, self.texts), "builders": dict(self.builders)}
        return hashlib.sha256(text_of_json(made_from).encode("ascii")).hexdigest()


def _content(example: Example) -> dict[str, Any]:
    """The example as JSON. Inputs and expectations are JSON as they are; pydantic would copy them part by part."""
    as_they_are = {"inputs": example.inputs, "expected": example.expected}
    return example.model_dump(mode="json", exclude=set(as_they_are)) | as_they_are


def _with_texts(value: Any, texts: Mapping[str, str]) -> Any:
    if not texts:
        return copy_json(value)
    if isinstance(value, str):
        return texts.get(value, value) if CITED.fullmatch(value) else value
    if isinstance(value, dict):
        return {key: _with_texts(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_texts(item, texts) for item in value]
    return value  # never a container: so what comes out shares nothing that can be changed with what went in


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, keys of objects left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def load_dataset(folder: Path, agent: str | None = None) -> Dataset:
    """Reads the dataset in ``folder``; ``agent`` defaults to the folder's name.

    Raises DatasetError that names file, example and key for anything that is not as it should be: no folder, no
    example, JSON that is broken or has a key twice, an unknown key, an id used twice, a cited text that is not there.

    Read once in a process as long as no file of the folder is touched: every step of a run asks for all datasets.
    """
    agent = agent or folder.name
    if not folder.is_dir():
        raise DatasetError("there is no such dataset folder", file=folder)
    place, stamp = (folder, agent), _stamp(folder)
    known = _READ.get(place)
    if known is not None and known[0] == stamp:
        return known[1]
    dataset = _load(folder, agent)
    if _stamp(folder) == stamp:
        if len(_READ) >= KEPT:
            _READ.clear()
        _READ[place] = (stamp, dataset)
    return dataset


KEPT = 16
"""Datasets that a process keeps."""
_Stamp = frozenset[tuple[str, int, int, int, int]]
_READ: dict[tuple[Path, str], tuple[_Stamp, Dataset]] = {}


def _stamp(folder: Path) -> _Stamp:
    """What changes when any file of the folder does; the time of the last change of a file's state cannot be set."""
    return frozenset(_state(path) for path in folder.rglob("*") if path.suffix != ".pyc")


def _state(path: Path) -> tuple[str, int, int, int, int]:
    try:
        at = path.stat()
    except OSError:  # a link to nowhere, or gone meanwhile: reading says what is wrong with it
        return str(path), 0, 0, 0, 0
    return str(path), at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


def _load(folder: Path, agent: str) -> Dataset:
    examples: list[Example] = []
    sources: dict[str, Path] = {}
    for file in sorted(folder.rglob("*.json")):
        if file.name.endswith(".schema.json"):
            continue
        for example in read_file(file, agent).examples:
            if example.id in sources:
                raise DatasetError(f"the id is already used in {sources[example.id]}", file=file, example=example.id)
            sources[example.id] = file
            examples.append(example)
    if not examples:
        raise DatasetError("the dataset is empty", file=folder)
    texts = _cited_texts(folder, examples, sources)
    builders = {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.py"))
    }
    return Dataset(agent, folder, tuple(examples), sources, texts, builders)


def read_file(file: Path, agent: str) -> DatasetFile:
    """Reads and validates one file. Raises DatasetError for the first thing wrong with it."""
    data = parse_json(file)
    try:
        parsed = DatasetFile.model_validate(data)
    except ValidationError as error:
        raise _named(error, data, file) from None
    if parsed.agent != agent:
        raise DatasetError(f"the file says agent {parsed.agent!r} and stands in the folder of {agent!r}", file=file)
    return parsed


def parse_json(file: Path) -> Any:
    """The JSON value in a file.

    Raises DatasetError for broken JSON, for NaN and numbers too large to hold, and for an object with a key twice.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for key, item in pairs:
            if key in value:
                raise DatasetError("the key is there twice", file=file, key=key)
            value[key] = item
        return value

    def no_constant(name: str) -> Any:
        raise DatasetError(f"{name} is not JSON", file=file)

    def finite(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            raise DatasetError(f"the number {digits} is too large", file=file)
        return number

    try:
        text = file.read_text("utf-8")
        return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant, parse_float=finite)
    except UnicodeDecodeError as error:
        raise DatasetError(f"not UTF-8 at byte {error.start}", file=file) from None
    except json.JSONDecodeError as error:
        raise DatasetError(
            f"broken JSON at line {error.lineno}, column {error.colno}: {error.msg}", file=file
        ) from None
    except RecursionError:
        raise DatasetError("nested too deeply", file=file) from None
    except ValueError as error:
        raise DatasetError(f"cannot be read: {error}", file=file) from None
    except OSError as error:
        raise DatasetError(f"cannot be read: {error.strerror}", file=file) from None


def _named(error: ValidationError, data: Any, file: Path) -> DatasetError:
    first = error.errors()[0]
    location = list(first["loc"])
    example = None
    if len(location) >= 2 and location[0] == "examples" and isinstance(location[1], int):
        raw = data["examples"][location[1]]
        example = raw.get("id") if isinstance(raw, dict) else None
        example = example if isinstance(example, str) else f"number {location[1] + 1}"
        location = location[2:]
    key = ".".join(str(part) for part in location) or None
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        problem = "unknown key"
    return DatasetError(problem, file=file, example=example, key=key)


def _cited_texts(folder: Path, examples: list[Example], sources: Mapping[str, Path]) -> dict[str, str]:
    texts: dict[str, str] = {}
    root = folder.resolve()
    for example in examples:
        for text in strings(example.inputs):
            if text in texts or not CITED.fullmatch(text):
                continue
            path = (folder / text).resolve()
            if not path.is_relative_to(root):
                raise DatasetError(
                    f"{text} lies outside the dataset folder", file=sources[example.id], example=example.id
                )
            try:
                texts[text] = path.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise DatasetError(
                    f"the cited text {text} cannot be read: {error}",
                    file=sources[example.id],
                    example=example.id,
                ) from None
    return texts

"""A dataset is refused for all that is not as it should be, by file, example and key; its digest is its version."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eval_pipeline.dataset import Dataset, Example, floats, load_dataset, strings
from eval_pipeline.errors import DatasetError
from tests.build import AGENT, example, example_json, marker, write_dataset


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / AGENT


def refusal(folder: Path) -> DatasetError:
    with pytest.raises(DatasetError) as caught:
        load_dataset(folder)
    return caught.value


def with_marker(**changes: Any) -> dict[str, Any]:
    return example_json(known_defects=[{"keys": ["answer_correct"], "reason": "weak"} | changes])


# Refusals of a folder


def test_a_folder_that_is_not_there_is_refused(folder: Path) -> None:
    assert str(refusal(folder)) == f"{folder}: there is no such dataset folder"


def test_an_empty_dataset_is_refused(folder: Path) -> None:
    """H55: an empty dataset is an error."""
    folder.mkdir()
    assert str(refusal(folder)) == f"{folder}: the dataset is empty"


def test_a_file_without_examples_is_refused(folder: Path) -> None:
    file = write_dataset(folder)
    file.write_text(json.dumps({"agent": AGENT, "examples": []}), "utf-8")
    error = refusal(folder)
    assert (error.file, error.key) == (file, "examples")


def test_a_file_of_another_agent_is_refused(folder: Path) -> None:
    file = write_dataset(folder, agent="clerk")
    assert str(refusal(folder)) == f"{file}: the file says agent 'clerk' and stands in the folder of 'sampler'"


def test_an_id_in_two_files_is_refused_and_both_are_named(folder: Path) -> None:
    """H34: two examples with one id are an error at load."""
    first = write_dataset(folder, example_json("twin"), name="a.json")
    second = write_dataset(folder, example_json("twin"), name="b.json")
    assert str(refusal(folder)) == f"{second}: example 'twin': the id is already used in {first}"


def test_an_id_twice_in_one_file_is_refused(folder: Path) -> None:
    write_dataset(folder, example_json("twin"), example_json("twin"))
    assert refusal(folder).example == "twin"


def test_a_schema_beside_the_datasets_is_no_dataset(folder: Path) -> None:
    write_dataset(folder)
    (folder / "dataset.schema.json").write_text("{}", "utf-8")
    assert len(load_dataset(folder).examples) == 1


# Refusals of JSON


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"agent": "sampler",\n  "examples": [}', "broken JSON at line 2, column 16: Expecting value"),
        ("", "broken JSON at line 1, column 1: Expecting value"),
        ('{"agent": NaN}', "NaN is not JSON"),
        ('{"agent": -Infinity}', "-Infinity is not JSON"),
        ('{"agent": 1e999}', "the number 1e999 is too large"),
        ('{"agent": "a", "agent": "b"}', "key 'agent': the key is there twice"),
        ('{"a": {"b": 1, "b": 1}}', "key 'b': the key is there twice"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "Input should be a valid dictionary or instance of DatasetFile"),
        ("9" * 5000, "cannot be read: Exceeds the limit"),
    ],
)
def test_text_that_is_not_one_json_value_is_refused(folder: Path, text: str, told: str) -> None:
    file = write_dataset(folder)
    file.write_text(text, "utf-8")
    assert str(refusal(folder)).startswith(f"{file}: {told}")


def test_text_that_is_not_utf_8_is_refused(folder: Path) -> None:
    file = write_dataset(folder)
    file.write_bytes(b'{"agent": "\xff"}')
    assert str(refusal(folder)) == f"{file}: not UTF-8 at byte 11"


def test_a_file_that_cannot_be_read_is_refused(folder: Path) -> None:
    (folder / "cases.json").mkdir(parents=True)
    assert "cannot be read: Is a directory" in str(refusal(folder))


# Refusals of an example

REFUSED_EXAMPLES = {
    "unknown key": (example_json(typo=1), "typo", "unknown key"),
    "id with a slash": (example_json("a/b"), "id", "String should match pattern"),
    "id that is too long": (example_json("a" * 201), "id", "String should have at most 200 characters"),
    "no inputs": ({"id": "example-1", "expected": {}}, "inputs", "Field required"),
    "no expected": ({"id": "example-1", "inputs": {}}, "expected", "Field required"),
    "expected that is a list": (example_json(expected=[]), "expected", "Input should be a valid dictionary"),
    "empty tag": (example_json(tags=["  "]), "tags.0", "String should have at least 1 character"),
    "amount as a float": (example_json(expected={"total": 33.9}), "expected", "total is the float 33.9"),
    "amount as a nested float": (
        example_json(expected={"lines": [{"amount": 0.5}]}),
        "expected",
        "lines.0.amount is the float 0.5: write amounts and rates as decimal strings",
    ),
    "float in the inputs": (example_json(inputs={"fx": {"rate": 0.85}}), "inputs", "fx.rate is the float 0.85"),
    "negative ratio": (example_json(expected={"floor": -0.5}), "expected", "floor is the float -0.5"),
    "marker: unknown key": (with_marker(onlywhen={}), "known_defects.0.onlywhen", "unknown key"),
    "marker: no key": (with_marker(keys=[]), "known_defects.0.keys", "Tuple should have at least 1 item"),
    "marker: no reason": (with_marker(reason=" "), "known_defects.0.reason", "String should have at least 1"),
    "marker: key twice": (with_marker(keys=["a", "a"]), "known_defects.0", "a key is named twice"),
    "marker: empty only_when": (with_marker(only_when={}), "known_defects.0", "only_when is empty"),
    "marker: intermittent alone": (with_marker(intermittent=True), "known_defects.0", "an intermittent defect needs"),
    "marker: intermittent as text": (
        with_marker(intermittent="yes", only_when={"n": 0}),
        "known_defects.0.intermittent",
        "Input should be a valid boolean",
    ),
    "marker: date as a number": (with_marker(expires=0), "known_defects.0.expires", "write the date as YYYY-MM-DD"),
    "marker: date with a time": (
        with_marker(since="2027-01-01T00:00:00"),
        "known_defects.0.since",
        "write the date as YYYY-MM-DD",
    ),
    "marker: no such day": (
        with_marker(expires="2027-02-30"),
        "known_defects.0.expires",
        "Input should be a valid date",
    ),
}


@pytest.mark.parametrize(("bad", "key", "told"), REFUSED_EXAMPLES.values(), ids=REFUSED_EXAMPLES)
def test_what_is_wrong_with_an_example_is_told_by_file_example_and_key(
    folder: Path, bad: dict[str, Any], key: str, told: str
) -> None:
    file = write_dataset(folder, example_json("good"), bad)
    error = refusal(folder)
    assert (error.file, error.example, error.key) == (file, bad["id"], key)
    assert str(error).startswith(f"{file}: example {bad['id']!r}: key {key!r}: ")
    assert told in error.problem


def test_an_example_without_an_id_is_told_by_its_number(folder: Path) -> None:
    file = write_dataset(folder, example_json("good"), {"inputs": {}, "expected": {}})
    assert str(refusal(folder)) == f"{file}: example 'number 2': key 'id': Field required"


def test_an_unknown_key_of_a_file_is_refused(folder: Path) -> None:
    file = write_dataset(folder)
    file.write_text(json.dumps({"agent": AGENT, "examples": [example_json()], "more": 1}), "utf-8")
    assert str(refusal(folder)) == f"{file}: key 'more': unknown key"


@pytest.mark.parametrize("bare", [{}, {"only_when": {"n": 0}}])
def test_two_markers_on_one_key_need_only_when_both(bare: dict[str, Any]) -> None:
    two = [{"keys": ["k"], "reason": "r"}, {"keys": ["k"], "reason": "r"} | bare]
    for order in (two, two[::-1]):
        with pytest.raises(ValidationError, match="two known defects name k: both need only_when"):
            example(known_defects=order)


def test_two_markers_with_situations_may_name_one_key() -> None:
    both = example(known_defects=[marker("k", only_when={"n": 0}), marker("k", only_when={"n": 1})])
    assert len(both.known_defects) == 2


def test_a_ratio_at_the_top_of_expected_may_be_a_float() -> None:
    assert example(expected={"field_accuracy_floor": 0.85, "one": 1.0}).expected["one"] == 1.0


def test_floats_and_strings_are_found_wherever_they_are() -> None:
    value = {"a": [1, 1.5, {"b": 2.5}], "c": "x", "d": [["y"]]}
    assert list(floats(value)) == [("a.1", 1.5), ("a.2.b", 2.5)]
    assert list(strings(value)) == ["x", "y"]


# Cited texts


def cites(path: str) -> dict[str, Any]:
    return example_json(inputs={"document": path})


def test_a_cited_text_stands_in_the_place_of_its_path(folder: Path) -> None:
    write_dataset(folder, example_json(inputs={"documents": [{"text": "texts/1.txt"}], "company": "Larch"}))
    (folder / "texts").mkdir()
    (folder / "texts/1.txt").write_text("zwölf\n", "utf-8")
    loaded = load_dataset(folder)
    assert loaded.inputs(loaded.examples[0]) == {"documents": [{"text": "zwölf\n"}], "company": "Larch"}


def test_a_text_that_is_not_there_is_refused(folder: Path) -> None:
    file = write_dataset(folder, cites("texts/1.txt"))
    assert str(refusal(folder)).startswith(f"{file}: example 'example-1': the cited text texts/1.txt cannot be read")


@pytest.mark.parametrize("path", ["a/../../secret.txt", "link.txt"])
def test_a_text_outside_of_the_folder_is_refused(folder: Path, path: str) -> None:
    write_dataset(folder, cites(path))
    (folder.parent / "secret.txt").write_text("secret", "utf-8")
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    error = refusal(folder)
    assert (error.example, error.problem) == ("example-1", f"{path} lies outside the dataset folder")


def test_a_text_that_is_not_utf_8_is_refused(folder: Path) -> None:
    write_dataset(folder, cites("1.txt"))
    (folder / "1.txt").write_bytes(b"\xff")
    assert "the cited text 1.txt cannot be read" in str(refusal(folder))


def test_a_sentence_that_ends_in_a_file_name_is_no_citation(folder: Path) -> None:
    write_dataset(folder, cites("see report.txt"))
    assert load_dataset(folder).texts == {}


def test_the_inputs_are_a_copy(folder: Path) -> None:
    write_dataset(folder, example_json(inputs={"lines": ["a"]}))
    loaded = load_dataset(folder)
    loaded.inputs(loaded.examples[0])["lines"].append("b")
    assert loaded.inputs(loaded.examples[0]) == {"lines": ["a"]}


# The digest

FULL = example_json(
    "full",
    inputs={"document": "1.txt", "deep": [{"flag": False, "n": 0}]},
    expected={"answer": "four", "lines": [{"amount": "1.00"}]},
    tags=["receipt"],
    known_defects=[
        {
            "keys": ["answer_correct"],
            "only_when": {"n": 0},
            "intermittent": True,
            "reason": "weak",
            "owner": "sampler",
            "since": "2026-12-01",
            "expires": "2027-06-01",
            "issue": "https://example.org/1",
        }
    ],
)


def full(folder: Path, raw: dict[str, Any] | None = None) -> Dataset:
    write_dataset(folder, raw or FULL)
    (folder / "1.txt").write_text("one", "utf-8")
    (folder / "builders.py").write_text("FORMS = 1\n", "utf-8")
    return load_dataset(folder, AGENT)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*path, index))]
    return [path]


OTHER = {"1.txt": "2.txt", "2026-12-01": "2026-12-02", "2027-06-01": "2027-06-02", "answer_correct": "other_key"}


def changed(raw: Any, path: tuple[Any, ...]) -> Any:
    copy = json.loads(json.dumps(raw))
    inner = copy
    for part in path[:-1]:
        inner = inner[part]
    old = inner[path[-1]]
    inner[path[-1]] = (
        (not old) if isinstance(old, bool) else old + 1 if isinstance(old, int) else OTHER.get(old, old + "x")
    )
    return copy


@pytest.mark.parametrize("path", leaves(FULL), ids=lambda path: ".".join(map(str, path)))
def test_the_digest_changes_with_every_leaf_of_an_example(tmp_path: Path, path: tuple[Any, ...]) -> None:
    before = full(tmp_path / "before")
    (tmp_path / "after").mkdir()
    (tmp_path / "after" / "2.txt").write_text("one", "utf-8")
    assert full(tmp_path / "after", changed(FULL, path)).digest != before.digest


@pytest.mark.parametrize("value", [False, "0", 0.0, None])
def test_the_digest_tells_types_apart(value: object) -> None:
    def digest_with(n: object) -> str:
        return Dataset(AGENT, Path("d"), (example(expected={"n": n}),), {}).digest

    assert digest_with(0) != digest_with(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "1.txt").write_text("two", "utf-8"),
        lambda folder: (folder / "builders.py").write_text("FORMS = 2\n", "utf-8"),
        lambda folder: (folder / "more.py").write_text("", "utf-8"),
        lambda folder: write_dataset(folder, example_json("one-more"), name="more.json"),
    ],
    ids=["cited text", "builder", "one more builder", "one more example"],
)
def test_the_digest_changes_with_texts_builders_and_examples(folder: Path, change: Callable[[Path], object]) -> None:
    before = full(folder).digest
    change(folder)
    assert load_dataset(folder).digest != before


def test_the_inputs_of_an_example_have_a_digest_that_its_expectations_do_not_touch(tmp_path: Path) -> None:
    def inputs_digest(name: str, raw: dict[str, Any], text: str = "one") -> str:
        full(tmp_path / name, raw)
        (tmp_path / name / "1.txt").write_text(text, "utf-8")
        loaded = load_dataset(tmp_path / name, AGENT)
        return loaded.inputs_digest(loaded.examples[0])

    before = inputs_digest("a", FULL)
    assert inputs_digest("b", FULL | {"expected": {"answer": "five"}}) == before
    assert inputs_digest("c", FULL, text="two") != before
    assert inputs_digest("d", FULL | {"inputs": {"document": "1.txt"}}) != before


def test_layout_order_and_file_names_play_no_part_in_the_digest(tmp_path: Path) -> None:
    two = [example_json("a"), example_json("b", inputs={"x": 1, "y": 2})]
    write_dataset(tmp_path / "one", *two)
    write_dataset(
        tmp_path / "two", {"expected": two[1]["expected"], "inputs": {"y": 2, "x": 1}, "id": "b"}, name="a.json"
    )
    file = write_dataset(tmp_path / "two", two[0] | {"tags": [], "known_defects": []}, name="sub.json")
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")), indent=7), "utf-8")
    one, other = load_dataset(tmp_path / "one", AGENT), load_dataset(tmp_path / "two", AGENT)
    assert [item.id for item in one.examples] != [item.id for item in other.examples]
    assert one.digest == other.digest


names = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
# No floats: they are for top-level ratios, and have tests of their own.
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
examples = st.builds(
    lambda id, inputs, expected, tags: example_json(id, inputs=inputs, expected=expected, tags=tags),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True),
    st.dictionaries(names, plain, max_size=3),
    st.dictionaries(names, plain | st.floats(0, 1), max_size=3),
    st.lists(st.sampled_from(["receipt", "sale", "zwölf"]), max_size=2),
)


@given(examples)
def test_every_json_example_loads_and_has_a_digest(raw: dict[str, Any]) -> None:
    loaded = Dataset(AGENT, Path("d"), (Example.model_validate(raw),), {})
    assert len(loaded.digest) == len(loaded.inputs_digest(loaded.examples[0])) == 64


def test_a_dataset_is_read_again_when_any_file_of_it_was_touched(tmp_path: Path) -> None:
    file = write_dataset(tmp_path, example_json(inputs={"document": "a.txt"}))
    text = tmp_path / "a.txt"
    text.write_text("one", "utf-8")
    first = load_dataset(tmp_path, AGENT)
    assert load_dataset(tmp_path, AGENT) is first
    before = text.stat()
    text.write_text("two", "utf-8")
    os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))  # as long and, by the file's own time, as old
    second = load_dataset(tmp_path, AGENT)
    assert second.digest != first.digest
    assert second.texts == {"a.txt": "two"}
    file.write_text(file.read_text("utf-8").replace("four", "five"), "utf-8")
    assert load_dataset(tmp_path, AGENT).examples[0].expected == {"answer": "five"}
    (tmp_path / "builder.py").write_text("", "utf-8")
    assert load_dataset(tmp_path, AGENT).builders
    text.unlink()
    with pytest.raises(DatasetError, match="cannot be read"):
        load_dataset(tmp_path, AGENT)

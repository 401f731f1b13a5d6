"""The copy equals the repo after a sync, whatever was done to it, and wherever the syncs before were cut off."""

import threading
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval_pipeline.dataset import Dataset, Example
from eval_pipeline.langsmith_copy import compare, copied_id, dataset_name, sync, wanted
from eval_pipeline.langsmith_service import ServiceError
from eval_pipeline.langsmith_service import connect as connect_to
from tests.langsmith_copy.conftest import connect
from tests.langsmith_copy.service import ANSWER_LOST, RESET, serving

NAME = dataset_name("auditor")


def dataset(values):
    """Examples by id, each with one number that goes in and one that is expected."""
    examples = tuple(
        Example(id=name, inputs={"amount": str(value)}, expected={"n": value}, tags=("odd",) if value % 2 else ())
        for name, value in values.items()
    )
    return Dataset("auditor", Path("datasets/auditor"), examples, sources={})


def held(service):
    """What the service holds, as (inputs, expected, tags) by the id in the repo; an attachment or a split is told."""
    rows = service.of(NAME).rows.values()
    return {
        row["metadata"].get("id", row["id"]): (
            row["inputs"],
            row["outputs"],
            row["metadata"].get("tags", []),
            row["metadata"]["dataset_split"],
            bool(row.get("attachment_urls")),
        )
        for row in rows
    }


def as_in_the_repo(values):
    return {
        name: ({"amount": str(value)}, {"n": value}, ["odd"] if value % 2 else [], ["base"], False)
        for name, value in values.items()
    }


def edit(service, change):
    """Somebody edits in the dashboard."""
    copy = service.of(NAME)
    change(copy.rows)
    service.changed(copy)


# What a person can do to the n-th row of the copy.
def _delete(rows, key):
    del rows[key]


def _answer(rows, key):
    rows[key] = {**rows[key], "outputs": {"n": -1}}


def _empty(rows, key):
    rows[key] = {**rows[key], "inputs": {}, "outputs": None}


def _rename(rows, key):
    rows[key] = {**rows[key], "metadata": {**rows[key]["metadata"], "id": "another"}}


def _split(rows, key):
    rows[key] = {**rows[key], "metadata": {**rows[key]["metadata"], "dataset_split": ["train"]}}


def _attach(rows, key):
    rows[key] = {**rows[key], "attachment_urls": {"scan": {"presigned_url": "x", "storage_url": "x"}}}


def _add(rows, key):
    number = len(rows)
    new = f"00000000-0000-0000-0000-{number:012}"
    rows[new] = {**rows[key], "id": new}


EDITS = (_delete, _answer, _empty, _rename, _split, _attach, _add)

values_of_the_repo = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1)
remote_edits = st.tuples(st.just("remote"), st.sampled_from(EDITS), st.integers(0, 5))
local_edits = st.tuples(st.just("local"), values_of_the_repo)
cut_syncs = st.tuples(st.just("cut"), st.integers(0, 14), st.sampled_from((RESET, ANSWER_LOST)))
whole_syncs = st.just(("sync",))
histories = st.lists(st.one_of(remote_edits, local_edits, cut_syncs, whole_syncs), max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(first=values_of_the_repo, history=histories)
def test_after_any_history_one_whole_sync_ends_in_equality(first, history):
    values = first
    with serving() as service:
        for step in history:
            if step[0] == "local":
                values = step[1]
            elif step[0] == "remote" and any(item.name == NAME and item.rows for item in service.datasets.values()):
                keys = sorted(service.of(NAME).rows)
                edit(service, partial(step[1], key=keys[step[2] % len(keys)]))
            elif step[0] == "cut":
                cut_off_sync(service, dataset(values), *step[1:])
            elif step[0] == "sync":
                sync(connect(service), dataset(values), None)
        sync(connect(service), dataset(values), None)
        assert held(service) == as_in_the_repo(values)
        assert not compare(connect(service), dataset(values))


def cut_off_sync(service, repo, number, fault):
    """A sync whose connection is gone for good from its n-th request on; a short one ends before that."""
    start = len(service.requests)
    service.fault = lambda n: fault if n >= start + number else None
    try:
        sync(connect(service), repo, None)
    except ServiceError as error:
        assert "cut the connection" in str(error)
    finally:
        service.fault = lambda _: None


def test_what_the_dashboard_changed_is_told_by_check_which_changes_nothing(service):
    client, repo = connect(service), dataset({"a": 1, "b": 2, "c": 3})
    sync(client, repo, None)
    keys = {name: str(copied_id(NAME, name)) for name in "abc"}
    edit(service, lambda rows: (_answer(rows, keys["a"]), _delete(rows, keys["b"])))
    before = dict(service.of(NAME).rows)
    assert compare(client, repo).sentences == ("1 not in the copy: b", "1 different: a")
    assert service.of(NAME).rows == before


def test_a_copy_that_is_not_there_lacks_everything(service):
    assert compare(connect(service), dataset({"a": 1, "b": 2})).sentences == ("2 not in the copy: a, b",)


def test_uploading_twice_keeps_the_ids_and_applies_removals(service):
    """H36."""
    client = connect(service)
    sync(client, dataset({"a": 1, "b": 2}), None)
    first = set(service.of(NAME).rows)
    sync(client, dataset({"b": 2, "c": 3}), None)
    assert set(service.of(NAME).rows) == {str(copied_id(NAME, name)) for name in "bc"}
    assert str(copied_id(NAME, "b")) in first


def test_what_did_not_change_is_not_written(service):
    client = connect(service)
    sync(client, dataset({"a": 1, "b": 2}), None)
    before = service.of(NAME).rows
    untouched = before[str(copied_id(NAME, "a"))]
    done = sync(client, dataset({"a": 1, "b": 3}), None)
    assert (done.n_added, done.n_changed, done.n_deleted) == (0, 1, 0)
    assert service.of(NAME).rows[str(copied_id(NAME, "a"))] is untouched


def test_the_version_is_tagged_with_digest_and_commit(service):
    client, repo = connect(service), dataset({"a": 1})
    done = sync(client, repo, "c" * 40)
    assert done.tags == (f"digest-{repo.digest[:32]}", f"commit-{'c' * 40}")
    tags = service.of(NAME).tags
    assert {tags[tag] for tag in done.tags} == {service.of(NAME).versions[-1][0]}


def test_a_tag_moves_to_the_version_that_equals_the_repo(service):
    client, repo = connect(service), dataset({"a": 1})
    sync(client, repo, None)
    edit(service, lambda rows: _answer(rows, next(iter(rows))))
    tag = sync(client, repo, None).tags[0]
    assert service.of(NAME).tags[tag] == service.of(NAME).versions[-1][0]


def test_two_syncs_at_once_end_in_equality(service):
    repo = dataset({f"e{n}": n for n in range(450)})
    errors = []

    def one():
        try:
            sync(connect(service), repo, None)
        except ServiceError as error:
            errors.append(error)

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(service.datasets) == 1
    assert not compare(connect(service), repo)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_service_that_is_busy_is_asked_again(service, status):
    service.fault = lambda number: status if number % 3 else None
    sync(connect(service), dataset({"a": 1}), None)
    service.fault = lambda _: None
    assert held(service) == as_in_the_repo({"a": 1})


def test_an_example_that_the_service_does_not_take_is_named_and_holds_up_no_other(service):
    service.deleted_may_return = False
    client = connect(service)
    sync(client, dataset({"a": 1, "b": 2}), None)
    sync(client, dataset({"b": 2}), None)
    with pytest.raises(ServiceError, match=r"still differs after 5 rounds: 1 not in the copy: a$"):
        sync(client, dataset({"a": 1, "b": 2, "c": 3, "d": 4}), None)
    assert held(service) == as_in_the_repo({"b": 2, "c": 3, "d": 4})


def a_row(item):
    metadata = {**item.metadata, "dataset_split": ["base"]}
    return {"id": str(item.id), "inputs": item.inputs, "outputs": item.outputs, "metadata": metadata}


def test_ten_thousand_unchanged_examples_cost_their_pages_and_nothing_more(service):
    client, many = connect(service), dataset({f"e{n}": 1 for n in range(10_000)})
    sync(client, dataset({"a": 1}), None)
    edit(
        service, lambda rows: (rows.clear(), rows.update((row["id"], row) for row in map(a_row, wanted(many).values())))
    )
    before = len(service.requests)
    done = sync(client, many, None)
    assert (done.n_examples, done.n_added, done.n_changed, done.n_deleted) == (10_000, 0, 0, 0)
    asked = [request for request in service.requests[before:] if request[0] != "PUT"]
    assert {method for method, _ in asked} == {"GET"}
    # 100 full pages, the empty one that tells the end, the dataset and its version.
    assert len(asked) == 103


def test_an_error_tells_nothing_of_the_key(service):
    secret = "lsv2_sk_this_is_wrong_123456"
    client = connect_to({"LANGSMITH_API_KEY": secret, "LANGSMITH_ENDPOINT": service.url}, backoff_s=0)
    with pytest.raises(ServiceError, match=r"refuses the key in LANGSMITH_API_KEY$") as refused:
        sync(client, dataset({"a": 1}), None)
    service.fault = lambda _: RESET
    with pytest.raises(ServiceError) as lost:
        sync(client, dataset({"a": 1}), None)
    for error in (refused.value, lost.value):
        assert "lsv2" not in str(error)
        assert "\n" not in str(error)

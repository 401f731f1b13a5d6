"""The copy of a dataset at LangSmith: rebuilt from the repo, so that it equals the repo after every sync.

Nothing is remembered between syncs. A sync reads what is there, changes what differs, reads again, and ends when
nothing differs: so it does not matter where the last one was cut off, what was edited in the dashboard, or whether
another one runs at the same time.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval_pipeline.dataset import Dataset, Example
from eval_pipeline.langsmith_service import ServiceError, told
from eval_pipeline.values import text_of_json

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import DatasetVersion

PREFIX = "eval-pipeline-"
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "eval-pipeline/langsmith")
PAGE = 100
WRITTEN_AT_ONCE = 200
DELETED_AT_ONCE = 50
"""Their ids stand in the address of the request."""

ROUNDS = 5
SPLIT = "base"
DESCRIPTION = "A copy of the dataset in the repository, made by eval-pipeline sync. What is edited here is overwritten."
NAMED = 10
"""Examples that an error names; of the others it gives the number."""


@dataclass(frozen=True, slots=True)
class CopiedExample:
    """One example as LangSmith holds it; ``name`` is its id in the repo, where the copy still says it."""

    id: uuid.UUID
    name: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    metadata: Mapping[str, Any]
    has_attachments: bool = False
    split: tuple[str, ...] = (SPLIT,)

    @property
    def content(self) -> str:
        """The canonical text of all that must be equal."""
        return text_of_json(
            {
                "inputs": self.inputs,
                "outputs": self.outputs,
                "metadata": self.metadata,
                "attachments": self.has_attachments,
                "split": list(self.split),
            }
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """What makes a copy differ from the repo."""

    missing: tuple[CopiedExample, ...] = ()
    changed: tuple[CopiedExample, ...] = ()
    surplus: tuple[CopiedExample, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.surplus)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One for each kind that there is, with the names of the examples."""
        kinds = (("not in the copy", self.missing), ("different", self.changed), ("only in the copy", self.surplus))
        return tuple(f"{len(examples)} {kind}: {_names(examples)}" for kind, examples in kinds if examples)


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did: how many examples it wrote, and how many requests for what was equal it spared."""

    dataset: str
    n_examples: int
    n_added: int
    n_changed: int
    n_deleted: int
    tags: tuple[str, ...]


def dataset_name(agent: str) -> str:
    """What an agent's copy is called at LangSmith."""
    return f"{PREFIX}{agent}"


def copied_id(dataset: str, example_id: str) -> uuid.UUID:
    """The id of an example's copy: the same at each sync, so that experiments keep pointing at their examples."""
    return uuid.uuid5(NAMESPACE, f"{dataset}/{example_id}")


def wanted(dataset: Dataset) -> dict[uuid.UUID, CopiedExample]:
    """What the copy must hold, by id; cited texts stand in the inputs."""
    name = dataset_name(dataset.agent)
    return {copied_id(name, example.id): _copied(name, dataset, example) for example in dataset.examples}


def _copied(name: str, dataset: Dataset, example: Example) -> CopiedExample:
    described = example.model_dump(mode="json", exclude={"inputs", "expected"}, exclude_defaults=True)
    metadata = {**described, "inputs_digest": dataset.inputs_digest(example)}
    return CopiedExample(
        copied_id(name, example.id), example.id, dataset.inputs(example), dict(example.expected), metadata
    )


def difference(want: Mapping[uuid.UUID, CopiedExample], held: Mapping[uuid.UUID, CopiedExample]) -> Difference:
    """What is missing, different and surplus in ``held``."""
    return Difference(
        missing=tuple(item for key, item in want.items() if key not in held),
        changed=tuple(item for key, item in want.items() if key in held and held[key].content != item.content),
        surplus=tuple(item for key, item in held.items() if key not in want),
    )


def find(client: "Client", name: str) -> uuid.UUID | None:
    """The id of the dataset of that name at the service; None when there is none."""
    rows = client.request_with_retries("GET", "/datasets", params={"name": name, "limit": 2}).json()
    return next((uuid.UUID(row["id"]) for row in rows if row["name"] == name), None)


def compare(client: "Client", dataset: Dataset) -> Difference:
    """How the copy differs from the repo now; nothing is changed. Raises ServiceError."""
    with told(client.api_url):
        dataset_id = find(client, dataset_name(dataset.agent))
        held = {} if dataset_id is None else _held(client, dataset_id)[1]
    return difference(wanted(dataset), held)


def sync(client: "Client", dataset: Dataset, commit: str | None) -> Synced:
    """Makes the copy equal to the repo, reads it back, and tags that version with the dataset's digest and the commit.

    Raises ServiceError when the service fails, or when the copy still differs after ROUNDS: then it names the examples.
    """
    name, want = dataset_name(dataset.agent), wanted(dataset)
    n_added = n_changed = n_deleted = 0
    with told(client.api_url):
        dataset_id = find(client, name) or _create(client, name)
        for number in range(ROUNDS):
            version, held = _held(client, dataset_id)
            found = difference(want, held)
            if not found:
                tags = _tag(client, dataset_id, version, dataset.digest, commit)
                return Synced(name, len(want), n_added, n_changed, n_deleted, tags)
            written = _apply(client, dataset_id, found, is_first=number == 0)
            n_added, n_changed, n_deleted = n_added + written[0], n_changed + written[1], n_deleted + written[2]
    raise ServiceError(f"the copy {name} still differs after {ROUNDS} rounds: {'; '.join(found.sentences)}")


def _create(client: "Client", name: str) -> uuid.UUID:
    """Its id; that of another sync when that one was first."""
    from langsmith.utils import LangSmithConflictError

    try:
        return client.create_dataset(name, description=DESCRIPTION).id
    except LangSmithConflictError:
        found = find(client, name)
        if found is None:
            raise
        return found


def _held(client: "Client", dataset_id: uuid.UUID) -> tuple["DatasetVersion", dict[uuid.UUID, CopiedExample]]:
    """A version of the copy and all that it holds: every page shows the same version, whoever writes meanwhile."""
    version = client.read_dataset_version(dataset_id=dataset_id, tag="latest")
    as_of = version.as_of.isoformat()
    # Not ``list_examples``: where a workspace has no project yet, it asks for one more thing at every example.
    fields = ["id", "inputs", "outputs", "metadata", "attachment_urls"]
    held: dict[uuid.UUID, CopiedExample] = {}
    offset = 0
    while True:
        params = {"dataset": str(dataset_id), "as_of": as_of, "offset": offset, "limit": PAGE}
        rows = client.request_with_retries("GET", "/examples", params={**params, "select": fields}).json()
        held.update((item.id, item) for item in map(_of_row, rows))
        if len(rows) < PAGE:
            return version, held
        offset += len(rows)


def _of_row(row: Mapping[str, Any]) -> CopiedExample:
    metadata = dict(row.get("metadata") or {})
    split = metadata.pop("dataset_split", None) or [SPLIT]
    split = (split,) if isinstance(split, str) else tuple(split)
    name = str(metadata.get("id") or row["id"])
    has_attachments = bool(row.get("attachment_urls"))
    inputs, outputs = row.get("inputs") or {}, row.get("outputs") or {}
    return CopiedExample(uuid.UUID(row["id"]), name, inputs, outputs, metadata, has_attachments, split)


def _apply(client: "Client", dataset_id: uuid.UUID, found: Difference, *, is_first: bool) -> tuple[int, int, int]:
    """Writes what differs, and says how many were added, changed and deleted.

    What does not go through is left to the next round, which sees what became of it: in the first one it is mostly
    another sync that was faster. After that a batch with one that is refused is cut in halves.
    """

    def written(examples: Sequence[CopiedExample], write: Callable[[Sequence[CopiedExample]], object]) -> int:
        parts = _parts(examples, WRITTEN_AT_ONCE)
        return sum(_written(part, write, smallest=len(part) if is_first else 1) for part in parts)

    def add(part: Sequence[CopiedExample]) -> None:
        client.create_examples(dataset_id=dataset_id, examples=[_creation(item) for item in part])

    def change(part: Sequence[CopiedExample]) -> None:
        client.update_examples(dataset_id=dataset_id, updates=[_update(item) for item in part])

    n_added, n_changed = written(found.missing, add), written(found.changed, change)
    for part in _parts(found.surplus, DELETED_AT_ONCE):
        client.delete_examples([item.id for item in part])
    return n_added, n_changed, len(found.surplus)


def _parts(examples: Sequence[CopiedExample], size: int) -> Iterator[Sequence[CopiedExample]]:
    return (examples[start : start + size] for start in range(0, len(examples), size))


def _written(
    part: Sequence[CopiedExample], write: Callable[[Sequence[CopiedExample]], object], *, smallest: int
) -> int:
    """How many of a batch were written; one that is refused is tried in halves, down to the smallest size."""
    from langsmith.utils import LangSmithConflictError, LangSmithNotFoundError

    try:
        write(part)
        return len(part)
    except (LangSmithConflictError, LangSmithNotFoundError):
        if len(part) <= smallest:
            return 0
    half = len(part) // 2
    return sum(_written(some, write, smallest=smallest) for some in (part[:half], part[half:]))


def _creation(item: CopiedExample) -> dict[str, Any]:
    return {
        "id": item.id,
        "inputs": dict(item.inputs),
        "reference_outputs": dict(item.outputs),
        "metadata": dict(item.metadata),
        "split": SPLIT,
    }


def _update(item: CopiedExample) -> dict[str, Any]:
    """All of it again, without the attachments that somebody added."""
    return {
        "id": item.id,
        "inputs": dict(item.inputs),
        "outputs": dict(item.outputs),
        "metadata": {**item.metadata, "dataset_split": [SPLIT]},
        "split": SPLIT,
        "attachments_operations": {"rename": {}, "retain": []},
    }


def _tag(
    client: "Client", dataset_id: uuid.UUID, version: "DatasetVersion", digest: str, commit: str | None
) -> tuple[str, ...]:
    """The tags that the version has now: of the repo's digest and, where it is known, of its commit."""
    tags = (f"digest-{digest[:32]}", *((f"commit-{commit[:40]}",) if commit else ()))
    for tag in tags:
        if tag not in (version.tags or ()):
            client.update_dataset_tag(dataset_id=dataset_id, as_of=version.as_of, tag=tag)
    return tags


def _names(examples: Sequence[CopiedExample]) -> str:
    named = ", ".join(item.name for item in examples[:NAMED])
    return named if len(examples) <= NAMED else f"{named} and {len(examples) - NAMED} more"

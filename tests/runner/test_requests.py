"""What a request to continue a run may ask: nothing that the run it continues did not have."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eval_pipeline.errors import ConfigError, ResumeRefused
from eval_pipeline.pipeline import Request, make_plan, resumed
from eval_pipeline.results import Database, runs
from eval_pipeline.results.runs import RunRow
from eval_pipeline.selection import Selection
from eval_pipeline.settings import Settings

PACK = Path("/packs/one")


@pytest.fixture
def run_with_a_pack(results: Database) -> str:
    asked = {**Selection().as_json(), "packs": [str(PACK)], "agents": []}
    runs.start(results, RunRow("r1", datetime.now(UTC), False, None, 1, asked), [])
    return "r1"


def test_a_resumed_run_has_the_packs_of_its_root(results: Database, run_with_a_pack: str) -> None:
    assert resumed(results, Request(resume=run_with_a_pack)).packs == (PACK,)
    assert resumed(results, Request(resume=run_with_a_pack, packs=(PACK,))).packs == (PACK,)


@pytest.mark.parametrize("packs", [(Path("/packs/two"),), (PACK, Path("/packs/two"))])
def test_other_packs_are_refused_and_not_ignored(
    results: Database, run_with_a_pack: str, packs: tuple[Path, ...]
) -> None:
    with pytest.raises(ResumeRefused, match=r"has the packs of its root \(/packs/one\): leave out --pack"):
        resumed(results, Request(resume=run_with_a_pack, packs=packs))


def test_a_pack_for_a_run_without_packs_is_refused(results: Database) -> None:
    asked = {**Selection().as_json(), "packs": [], "agents": []}
    runs.start(results, RunRow("r2", datetime.now(UTC), False, None, 1, asked), [])
    with pytest.raises(ResumeRefused, match=r"\(none\)"):
        resumed(results, Request(resume="r2", packs=(PACK,)))


def test_retry_errors_without_a_run_to_resume_is_a_wrong_call(results: Database) -> None:
    with pytest.raises(ConfigError, match="--resume"):
        make_plan(results, "new", Request(retry_errors=True), Settings())

"""``fmt``: the canonical format of all dataset files, and the JSON Schema beside them."""

from pathlib import Path

from rich.console import Console

from eval_pipeline.dataset_format import SCHEMA_NAME, formatted, schema_text
from eval_pipeline.errors import NOT_GREEN, OK, ConfigError
from eval_pipeline.packs import OVERLAYS
from eval_pipeline.settings import settings


def fmt(out: Console, *, check: bool) -> int:
    """Writes what is not in the canonical form, or with ``check`` names it and gives 1.

    Raises ConfigError for a file that cannot be written.
    """
    root = settings().datasets
    if not root.is_dir():
        raise ConfigError(f"there is no datasets folder {root}")
    wanted: dict[Path, str] = {root / SCHEMA_NAME: schema_text()}
    for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name != OVERLAYS):
        for file in sorted(folder.rglob("*.json")):
            wanted[file] = formatted(file, folder.name)
    stale = [file for file, text in wanted.items() if not file.is_file() or file.read_text("utf-8") != text]
    for file in stale:
        if not check:
            _write(file, wanted[file])
        told = "would be written" if check else "written"
        out.print(f"{file}: {told}", markup=False, highlight=False, soft_wrap=True)
    return NOT_GREEN if check and stale else OK


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None

"""The sink over fsspec: a local folder, or whatever else fsspec has a file system for (``s3://…``, ``memory://…``).

The path of a file is made of its area and the SHA-256 of its bytes, so the same bytes are there once, and nothing that
a submission says is part of a path. Bytes are written beside, under a name of their own, and then moved to their place:
a reader sees all of them or none.
"""

import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

from bookkeeping.intake.ports import StoredFile, checked_name, checked_path, path_of

PARTIAL = ".partial"
"""Where bytes are until they are whole. No area can have this name."""


class FsspecSink:
    """A ``FileSink``. Thread-safe; processes may share one root."""

    def __init__(self, url: str | Path) -> None:
        """``url`` is the root: a path, or a URL that fsspec knows. Raises ValueError for a scheme that it does not."""
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]
        from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]

        self._files: Any
        self._files, root = url_to_fs(str(url))
        self._root = root.rstrip("/")
        self._is_local = isinstance(self._files, LocalFileSystem)

    def store(self, area: str, content: bytes) -> StoredFile:
        """Keeps the bytes; see ``FileSink``."""
        digest = hashlib.sha256(content).hexdigest()
        path = path_of(area, digest)
        place = self._place(path)
        if self._files.exists(place):
            return StoredFile(path, digest, is_new=False)
        self._write(place, content)
        return StoredFile(path, digest, is_new=True)

    def read(self, path: str) -> bytes:
        """The bytes at a path."""
        content: bytes = self._files.cat_file(self._place(checked_path(path)))
        return content

    def holds(self, path: str) -> bool:
        """Whether there are bytes at a path."""
        return bool(self._files.isfile(self._place(checked_path(path))))

    def paths(self, area: str) -> tuple[str, ...]:
        """All paths of an area."""
        folder = f"{self._root}/{checked_name(area)}"
        if not self._files.isdir(folder):
            return ()
        return tuple(sorted(f"{area}/{'/'.join(name.split('/')[-2:])}" for name in self._files.find(folder)))

    def _write(self, place: str, content: bytes) -> None:
        partial = f"{self._root}/{PARTIAL}/{uuid.uuid4().hex}"
        self._files.makedirs(f"{self._root}/{PARTIAL}", exist_ok=True)
        self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
        try:
            with self._files.open(partial, "wb") as file:
                file.write(content)
                file.flush()
                if self._is_local:
                    os.fsync(file.fileno())
            self._files.mv(partial, place)
        except BaseException:
            if self._files.exists(partial):
                self._files.rm(partial)
            raise

    def _place(self, path: str) -> str:
        """Where a path is, below the root also after every link. Raises ValueError for a link that leads out of it."""
        place = f"{self._root}/{path}"
        if self._is_local:
            root = os.path.realpath(self._root)
            if os.path.commonpath([root, os.path.realpath(place)]) != root:
                raise ValueError(f"{path} leads out of the sink")
        return place

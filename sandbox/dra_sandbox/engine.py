"""Run the real Pulumi engine on a local backend in a scratch folder, with the simulated clouds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from dra_sandbox.clouds.existing_resources import VARIABLE, Memory
from dra_sandbox.encrypted_settings import without_encryption
from dra_sandbox.plugins import bin_folder, install_simulated_clouds
from dra_sandbox.run_result import RunResult, read_events
from dra_sandbox.tools import find_pulumi

# Environment variables that would make the engine use files outside the scratch folder.
_NOT_INHERITED = (
    "PULUMI_ACCESS_TOKEN",
    "PULUMI_BACKEND_URL",
    "PULUMI_IGNORE_AMBIENT_PLUGINS",
    "PYTHONPATH",
)
_NOTHING: Mapping[str, str] = MappingProxyType({})


class EngineError(Exception):
    """A command failed that must succeed for any project. The message contains its output."""


class Engine:
    """A local backend with one project.

    The engine works in `view`, a folder with links to all files of the project. Pulumi.yaml and the
    stack settings are copies, because the engine writes to them.
    """

    def __init__(
        self,
        work_dir: Path,
        project_dir: Path,
        *,
        language_hosts: Sequence[Path] = (),
        environment: Mapping[str, str] = _NOTHING,
    ) -> None:
        """Prepare `work_dir` for the project in `project_dir`. The folder is created if necessary.

        The first command finds or builds the CLI, which can raise ToolUnavailable. The simulated
        clouds run in this interpreter. `language_hosts` are folders with hosts of languages other
        than Python, and `environment` is added to the environment of every command. Raises
        FileNotFoundError if Pulumi.yaml doesn't exist.
        """
        self._given = dict(environment)
        self.work_dir = work_dir.absolute()
        self.project_dir = project_dir.absolute()
        self._language_hosts = tuple(map(str, language_hosts))
        self.view = self.work_dir / "project"
        self.settings_folder = _make_view(self.project_dir, self.view)
        for name in ("state", "home", "runs"):
            (self.work_dir / name).mkdir(parents=True, exist_ok=True)
        install_simulated_clouds(self.work_dir / "home")

    @cached_property
    def bin(self) -> Path:
        """The folder of the CLI and its language host. Raises ToolUnavailable as `find_pulumi`
        does.
        """
        return bin_folder(find_pulumi())

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every command, with its own backend, home folder, and passphrase, and
        without downloads.
        """
        inherited = {
            name: value for name, value in os.environ.items() if name not in _NOT_INHERITED
        }
        return {
            **inherited,
            "PATH": os.pathsep.join(
                [str(self.bin), *self._language_hosts, os.environ.get("PATH", os.defpath)]
            ),
            "PULUMI_BACKEND_URL": f"file://{self.work_dir / 'state'}",
            "PULUMI_HOME": str(self.work_dir / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "sandbox",
            VARIABLE: str(self.work_dir / "cloud.json"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
            # Enables the flag that writes the engine's events to a file.
            "PULUMI_DEBUG_COMMANDS": "true",
            **self._given,
        }

    @property
    def cloud(self) -> Memory:
        """The memory of the simulated clouds. Tests use it to change resources without the
        engine.
        """
        return Memory(self.work_dir / "cloud.json")

    def stack_init(self, stack: str) -> None:
        """Create `stack` if it doesn't exist. Raises EngineError if it can't be created."""
        done = self._run(["stack", "init", stack])
        if not done.ok and "already exists" not in done.stderr:
            raise EngineError(f"can't create the stack {stack}:\n{done.stdout}{done.stderr}")

    def stacks(self) -> list[str]:
        """Return the stacks of the backend. Raises EngineError if the backend can't be read."""
        done = self._run(["stack", "ls", "--json"])
        if not done.ok:
            raise EngineError(f"can't list the stacks:\n{done.stderr}")
        return [str(found["name"]) for found in json.loads(done.stdout)]

    def cancel(self, stack: str) -> None:
        """Remove the lock of an operation that was killed, if there is one."""
        self._run(["cancel", stack, "--yes"])

    def stack_remove(self, stack: str, *, force: bool = False) -> RunResult:
        """Remove `stack` and its history. Its settings stay. The engine rejects this while the
        stack has resources, unless `force` is set.
        """
        return self._run(
            ["stack", "rm", stack, "--yes", "--preserve-config", *(["--force"] if force else [])]
        )

    def preview(
        self, stack: str, *, policy_pack: Path | None = None, options: Sequence[str] = ()
    ) -> RunResult:
        """Preview the changes of `up`."""
        return self._operation("preview", stack, policy_pack, options)

    def up(
        self,
        stack: str,
        *,
        policy_pack: Path | None = None,
        skip_preview: bool = False,
        options: Sequence[str] = (),
    ) -> RunResult:
        """Preview the changes, then apply them. The preview can be skipped."""
        chosen = ["--yes", *(["--skip-preview"] if skip_preview else []), *options]
        return self._operation("up", stack, policy_pack, chosen)

    def import_resources(self, stack: str, file: Path) -> RunResult:
        """Import existing resources into the state without protecting them, as `pulumi import
        --file` can.
        """
        chosen = [
            "--file",
            str(file),
            "--yes",
            "--skip-preview",
            "--protect=false",
            "--generate-code=false",
        ]
        return self._operation("import", stack, None, chosen)

    def forget(self, stack: str, urn: str) -> RunResult:
        """Remove a resource and its dependents from the state. They stay in the cloud."""
        return self._run(
            ["state", "delete", urn, "--stack", stack, "--target-dependents", "--force", "--yes"]
        )

    def refresh(self, stack: str, *, options: Sequence[str] = ()) -> RunResult:
        """Read every resource again from the simulated clouds."""
        return self._operation("refresh", stack, None, ["--yes", "--skip-preview", *options])

    def destroy(
        self, stack: str, *, skip_preview: bool = True, options: Sequence[str] = ()
    ) -> RunResult:
        """Delete every resource of the stack, optionally after a preview. The stack
        itself stays.
        """
        return self._operation(
            "destroy",
            stack,
            None,
            ["--yes", *(["--skip-preview"] if skip_preview else []), *options],
        )

    def export(self, stack: str, *, show_secrets: bool = False) -> dict[str, Any]:
        """Return the stack's state as `pulumi stack export` writes it. Raises EngineError for an
        unknown stack.
        """
        shown = ["--show-secrets"] if show_secrets else []
        done = self._run(["stack", "export", *shown, "--stack", stack])
        if not done.ok:
            raise EngineError(f"can't export the stack {stack}:\n{done.stderr}")
        state: dict[str, Any] = json.loads(done.stdout)
        return state

    def resources(self, stack: str, *, show_secrets: bool = False) -> list[dict[str, Any]]:
        """Return the resources in the stack's state, in registration order."""
        deployment = self.export(stack, show_secrets=show_secrets).get("deployment") or {}
        return list(deployment.get("resources") or [])

    def outputs(self, stack: str) -> dict[str, Any]:
        """Return the stack's outputs with secrets in plain text. Raises EngineError for an unknown
        stack.
        """
        done = self._run(["stack", "output", "--json", "--show-secrets", "--stack", stack])
        if not done.ok:
            raise EngineError(f"can't read the outputs of {stack}:\n{done.stderr}")
        values: dict[str, Any] = json.loads(done.stdout)
        return values

    def install(self) -> RunResult:
        """Generate the `packages` of the project, such as the SDKs of components, as `pulumi
        install` does.
        """
        return self._run(["install"])

    def policy_analyze(self, state_file: Path, policy_pack: Path) -> RunResult:
        """Check an exported state with a policy pack, without running a program or provider."""
        return self._run(
            ["policy", "analyze", "--file", str(state_file), "--policy-pack", str(policy_pack)],
            stack_settings=False,
        )

    def package_schema(self, folder: Path) -> dict[str, Any]:
        """Return the schema of the components in `folder`. Raises EngineError if the engine can't
        read it.
        """
        done = self._run(["package", "get-schema", str(folder)])
        if not done.ok:
            raise EngineError(f"can't read the schema of {folder}:\n{done.stderr}")
        schema: dict[str, Any] = json.loads(done.stdout)
        return schema

    def _operation(
        self, verb: str, stack: str, policy_pack: Path | None, options: Sequence[str]
    ) -> RunResult:
        log = self.work_dir / "runs" / f"{time.time_ns()}-{verb}.jsonl"
        command = [verb, "--stack", stack, "--event-log", str(log), *options]
        if policy_pack is not None:
            command += ["--policy-pack", str(policy_pack)]
        return self._run(command, event_log=log)

    def _run(
        self, command: Sequence[str], *, event_log: Path | None = None, stack_settings: bool = True
    ) -> RunResult:
        """Run a command of the CLI in the view of the project."""
        started = time.monotonic()
        full = [str(self.bin / "pulumi"), *command, "--non-interactive", "--color", "never"]
        process = subprocess.Popen(
            full,
            cwd=self.view if stack_settings else self.work_dir,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            stdout, stderr = process.communicate()
        except KeyboardInterrupt:
            # The terminal also sent the signal to the engine, which completes its current
            # operations before it ends.
            process.communicate()
            raise
        return RunResult(
            command=("pulumi", *command),
            exit_code=process.returncode,
            stdout=stdout,
            stderr=stderr,
            seconds=time.monotonic() - started,
            events=read_events(event_log) if event_log is not None else (),
        )


def _make_view(project: Path, view: Path) -> Path:
    """Create or update the view of `project`, and return its folder of stack settings."""
    settings = yaml.safe_load((project / "Pulumi.yaml").read_text(encoding="utf-8"))
    folder = settings.get("stackConfigDir", "") if isinstance(settings, dict) else ""
    view.mkdir(parents=True, exist_ok=True)
    copied = Path(folder).parts[0] if folder else ""
    for entry in project.iterdir():
        target = view / entry.name
        if entry.name in {".git", ".pulumi"}:
            continue
        if entry.name == copied:
            _renew_folder(entry, target)
        elif entry.is_file() and entry.name.startswith("Pulumi."):
            _renew_file(entry, target)
        elif not target.is_symlink() and not target.exists():
            target.symlink_to(entry)
    (view / folder).mkdir(parents=True, exist_ok=True)
    return view / folder


def _renew_folder(source: Path, target: Path) -> None:
    """Copy the files of a folder again, and delete files that no longer exist."""
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            _renew_file(path, copy)
    for copy in list(target.rglob("*")):
        if copy.is_file() and not (source / copy.relative_to(target)).is_file():
            copy.unlink()


def _renew_file(source: Path, target: Path) -> None:
    """Copy a file again. In stack settings, the salt of this engine replaces the encryption of
    another backend.
    """
    text = source.read_bytes()
    is_settings = source.name.startswith("Pulumi.") and source.name != "Pulumi.yaml"
    text = without_encryption(text) if is_settings else text
    if is_settings and target.is_file():
        salt = [
            line for line in target.read_bytes().splitlines() if line.startswith(b"encryptionsalt:")
        ]
        text = b"\n".join([text.rstrip(b"\n"), *salt, b""]) if salt else text
    if not target.is_file() or target.read_bytes() != text:
        target.write_bytes(text)
        shutil.copymode(source, target)

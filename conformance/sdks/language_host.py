"""Run TypeScript and Go programs for the engine if Pulumi's language hosts aren't installed.

`language_host.py nodejs|go ENGINE` is the host of one language, for programs whose SDKs and
dependencies are already installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from dra_sandbox.engine_protocol import import_protocol_alone

import_protocol_alone()

from pulumi.runtime.proto import language_pb2, language_pb2_grpc  # noqa: E402  # the protocol alone

from dra_sandbox.language_host.host import LanguageHost  # noqa: E402  # the protocol alone
from dra_sandbox.language_host.runtime_options import NoSuchEnvironment  # noqa: E402  # the protocol alone
from dra_sandbox.plugin_server import serve  # noqa: E402  # the protocol alone

if TYPE_CHECKING:
    import grpc

LANGUAGES = ("nodejs", "go")


class NodeHost(LanguageHost):
    """Runs programs with the runner in Pulumi's SDK for Node.js (@pulumi/pulumi: cmd/run)."""

    def program(self, request: language_pb2.RunRequest) -> list[str]:
        folder = Path(request.info.program_directory)
        runner = folder / "node_modules/@pulumi/pulumi/cmd/run"
        if not runner.is_dir():
            raise NoSuchEnvironment(f"{folder} has no node_modules/@pulumi/pulumi: run npm install")
        options = {
            "monitor": request.monitor_address,
            "engine": self._engine,
            "organization": request.organization,
            "project": request.project,
            "root-directory": request.info.root_directory,
            "stack": request.stack,
            "pwd": request.pwd or str(folder),
            "parallel": str(request.parallel),
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        return [
            "node",
            str(runner),
            *words,
            *(["--dry-run"] if request.dryRun else []),
            request.info.entry_point,
        ]

    def program_environment(self, request: language_pb2.RunRequest) -> dict[str, str]:
        return {"PULUMI_NODEJS_TYPESCRIPT": "true"}


class GoHost(LanguageHost):
    """Builds and runs programs, which read all settings from their environment
    (sdk/go/pulumi/run.go).
    """

    def program(self, request: language_pb2.RunRequest) -> list[str]:
        binary = str(Path(tempfile.mkdtemp(prefix="pulumi-go-")) / "program")
        command = ["go", "build", "-o", binary, request.info.entry_point or "."]
        built = subprocess.run(
            command, cwd=request.info.program_directory, capture_output=True, text=True, check=False
        )
        if built.returncode:
            raise NoSuchEnvironment(f"the program doesn't build:\n{built.stderr}")
        return [binary]

    def program_environment(self, request: language_pb2.RunRequest) -> dict[str, str]:
        return {
            "PULUMI_ORGANIZATION": request.organization,
            "PULUMI_PROJECT": request.project,
            "PULUMI_ROOT_DIRECTORY": request.info.root_directory,
            "PULUMI_STACK": request.stack,
            "PULUMI_PARALLEL": str(request.parallel),
            "PULUMI_DRY_RUN": "true" if request.dryRun else "false",
            "PULUMI_MONITOR": request.monitor_address,
            "PULUMI_ENGINE": self._engine,
        }


def install(folder: Path) -> Path:
    """Write the hosts of both languages to `folder`, with the names that the engine searches for,
    and return `folder`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:
        script = folder / f"pulumi-language-{language}"
        script.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -P "{Path(__file__).resolve()}" {language} "$@"\n'
        )
        script.chmod(0o755)
    return folder


def main() -> None:
    """Serve until the engine stops this process."""
    language, *words = sys.argv[1:]
    addresses = [word for word in words if not word.startswith("-")]
    host = {"nodejs": NodeHost, "go": GoHost}[language](addresses[0] if addresses else "")

    def register(server: grpc.Server) -> None:
        language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)

    serve(register)


if __name__ == "__main__":
    os.environ.setdefault("GOTOOLCHAIN", "local")
    main()

"""Builds a command from a Go module that pins it: `modules/<name>/{go.mod, go.sum, tools.go}`."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from dra_planner.wording import counted
from dra_sandbox.cache import cache_folder, obtain
from dra_sandbox.progress import Step, step
from dra_sandbox.tools.go_toolchain import GoUnavailable, find_go, go_environment
from dra_sandbox.tools.versions import Version, parse_version

_MODULES = Path(__file__).parent / "modules"


class ToolUnavailable(Exception):
    """A tool could not be built; the message names the tool and ends with what the build said."""


@dataclass(frozen=True, slots=True)
class GoTool:
    """A command that can be built from Go modules.

    `pins` is the folder below `modules/` that pins it; `module` the module whose version is the
    tool's; `package` the main package in it; `stamps` maps a Go variable to the text that the
    linker puts there, in which `{version}` stands for the version without its `v`. `minutes` is
    about how long a build takes on two cores.
    """

    name: str
    pins: str
    module: str
    package: str
    tags: tuple[str, ...] = ()
    stamps: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    minutes: int = 3

    @property
    def pins_folder(self) -> Path:
        """The folder that holds go.mod, go.sum and tools.go."""
        return _MODULES / self.pins

    @property
    def version(self) -> str:
        """The pinned version without its `v`, such as "3.259.0"."""
        pinned = re.search(
            rf"^\s*(?:require\s+)?{re.escape(self.module)} v(\S+)", self._go_mod, re.MULTILINE
        )
        assert pinned is not None, f"{self.pins}/go.mod does not require {self.module}"
        return pinned.group(1)

    @property
    def minimum_go(self) -> Version:
        """The Go version that go.mod asks for."""
        asked = re.search(r"^go (\S+)", self._go_mod, re.MULTILINE)
        version = parse_version(asked.group(1)) if asked else None
        assert version is not None, f"{self.pins}/go.mod has no go directive"
        return version

    @property
    def key(self) -> str:
        """Name, version and a digest of everything that decides what is built."""
        digest = hashlib.sha256()
        for name in ("go.mod", "go.sum", "tools.go"):
            digest.update((self.pins_folder / name).read_bytes())
        digest.update(repr((self.package, self.tags, sorted(self.stamps.items()))).encode())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"

    @property
    def binary(self) -> Path:
        """Where the command is, or will be once built."""
        return cache_folder() / "tools" / self.key / "bin" / self.name

    @property
    def _go_mod(self) -> str:
        return (self.pins_folder / "go.mod").read_text(encoding="utf-8")


def build(tool: GoTool) -> Path:
    """The built command of `tool`; builds it when the cache has none.

    Raises ToolUnavailable when Go cannot be had or the build fails.
    """

    def announce() -> None:
        print(f"waiting for another process that builds {tool.name} {tool.version}", flush=True)

    obtain(tool.binary.parent.parent, lambda staging: _build_into(tool, staging), announce)
    return tool.binary


def _build_into(tool: GoTool, staging: Path) -> None:
    try:
        go = find_go(tool.minimum_go)
    except GoUnavailable as error:
        raise ToolUnavailable(f"{tool.name} {tool.version}: {error}") from error
    stamps = [
        f"-X {variable}={text.format(version=tool.version)}"
        for variable, text in tool.stamps.items()
    ]
    command = [str(go), "build", "-v", "-trimpath", "-mod=readonly", "-buildvcs=false"]
    command += ["-tags", ",".join(tool.tags)] if tool.tags else []
    command += [
        "-ldflags",
        " ".join(["-s -w", *stamps]),
        "-o",
        str(staging / "bin" / tool.name),
        tool.package,
    ]
    takes = f"once, about {counted(tool.minutes, 'minute')} on two cores"
    with step(f"building {tool.name} {tool.version} from its Go modules ({takes})") as running:
        _run(command, tool, running)


def _run(command: list[str], tool: GoTool, running: Step) -> None:
    """Run a build, telling how many packages are compiled; the whole group of processes ends with
    us.
    """
    tail: deque[str] = deque(maxlen=20)
    downloaded = compiled = 0
    with subprocess.Popen(
        command,
        cwd=tool.pins_folder,
        env=go_environment(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                tail.append(line.rstrip())
                downloaded += line.startswith("go: downloading")
                compiled += not line.startswith("go: ")
                running.news = f"{downloaded} modules downloaded, {compiled} packages compiled"
            status = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if status != 0:
        said = "\n  ".join(tail)
        raise ToolUnavailable(
            f"building {tool.name} {tool.version} failed with exit status {status}:\n  {said}"
        )

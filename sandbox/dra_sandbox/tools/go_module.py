"""Build a command from the Go module that pins it: `modules/<name>/{go.mod, go.sum, tools.go}`."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
from collections import deque
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from dra_planner.wording import counted
from dra_sandbox.cache import cache_folder, obtain
from dra_sandbox.progress import Step, step
from dra_sandbox.tools.go_toolchain import GoUnavailable, find_go, go_environment
from dra_sandbox.tools.versions import Version, parse_version

_MODULES = Path(__file__).parent / "modules"


class ToolUnavailable(Exception):
    """A tool couldn't be built. The message names the tool and ends with the output of
    the build.
    """


class GoTool(Struct, frozen=True):
    """A command that can be built from Go modules.

    `pins` is its folder in `modules/`. `module` is the module whose version the tool has, and
    `package` is the main package in it. `stamps` maps a Go variable to the text that the linker
    writes into it, in which `{version}` is the version without its `v`. `minutes` is the
    approximate duration of a build on two cores.
    """

    name: str
    pins: str
    module: str
    package: str
    tags: tuple[str, ...] = ()
    stamps: Mapping[str, str] = {}
    minutes: int = 3

    @property
    def pins_folder(self) -> Path:
        """Folder with go.mod, go.sum, and tools.go."""
        return _MODULES / self.pins

    @property
    def version(self) -> str:
        """Pinned version without its `v`, such as "3.259.0"."""
        pinned = re.search(
            rf"^\s*(?:require\s+)?{re.escape(self.module)} v(\S+)", self._go_mod, re.MULTILINE
        )
        assert pinned is not None, f"{self.pins}/go.mod doesn't require {self.module}"
        return pinned.group(1)

    @property
    def minimum_go(self) -> Version:
        """Go version that go.mod requires."""
        directive = re.search(r"^go (\S+)", self._go_mod, re.MULTILINE)
        version = parse_version(directive.group(1)) if directive else None
        assert version is not None, f"{self.pins}/go.mod doesn't have a go directive"
        return version

    @property
    def key(self) -> str:
        """Name, version, and a digest of all inputs of the build."""
        digest = hashlib.sha256()
        for name in ("go.mod", "go.sum", "tools.go"):
            digest.update((self.pins_folder / name).read_bytes())
        digest.update(repr((self.package, self.tags, sorted(self.stamps.items()))).encode())
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"

    @property
    def binary(self) -> Path:
        """Path of the command, whether it's built or not."""
        return cache_folder() / "tools" / self.key / "bin" / self.name

    @property
    def _go_mod(self) -> str:
        return (self.pins_folder / "go.mod").read_text(encoding="utf-8")


def build(tool: GoTool) -> Path:
    """Return the built command of `tool`, and build it if it isn't in the cache. Raises
    ToolUnavailable if Go isn't available or the build fails.
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
    """Run a build and report the number of compiled packages. Its process group ends with this
    process.
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
        output = "\n  ".join(tail)
        raise ToolUnavailable(
            f"building {tool.name} {tool.version} failed with exit status {status}:\n  {output}"
        )

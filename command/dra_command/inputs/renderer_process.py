"""Run the tools that render charts and kustomizations, with limits. For agents, the tools can't use
the network, credentials, or other programs.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

from dra_command.command_line.arguments import UsageError
from dra_command.inputs.renderer_inputs import is_inside, outside_reference

SECONDS: Final = 60
MOST_BYTES: Final = 64 << 20  # maximum size of the manifests that one tool renders
_MOST_MEMORY: Final = 4 << 30
_NEW_USER_AND_NETWORK: Final = 0x10000000 | 0x40000000
"""CLONE_NEWUSER and CLONE_NEWNET of unshare(2)."""
_NO_PROXY_HERE: Final = "http://127.0.0.1:9"
"""The discard port, on which no program listens. Go's HTTP clients first connect to a proxy, so a
proxy at this port blocks them.
"""

_LOGGED: Final = re.compile(r'^[A-Z]\d{4} .*? err="(.*)"$')
"""A line of Kubernetes' log format (k8s.io/klog/v2) with an error."""

_roots: list[Path] = []


def isolate_renderers(root: Path) -> None:
    """Restrict the tools that this process starts from now on: they read only files below a folder,
    and can't use the network, credentials, or other programs.

    Source: docs of helm 3.19 and kustomize 5.7. Their plugins are programs, and remote bases and
    values need git, a proxy, or a connection.
    """
    _roots.append(root.resolve())


def run_limited(words: Sequence[str], path: str) -> str:
    """Run a tool that renders the folder at a path, with the folder as the last argument, and
    return its output. Raises UsageError with the tool's message, or with the limit that was
    reached.
    """
    tool = f"{Path(words[0]).name} {words[1]}"
    by_hand = f"run {tool} yourself: `{tool} … | pulumi-dra plan -`"
    if _roots and (fault := _outside(words, _allowed_roots())):
        raise UsageError(f"{tool} couldn't render {path}: {fault}", fix=by_hand)
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryDirectory(prefix="pulumi-dra-") as scratch,
    ):
        started = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=_isolated_environment(scratch) if _roots else None,
            preexec_fn=_limits(isolated=bool(_roots)),
            start_new_session=True,
        )
        try:
            status = started.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"{tool} didn't finish within {SECONDS} s for {path}", fix=by_hand
            ) from None
        finally:
            _end(started)
        if output.seek(0, os.SEEK_END) >= MOST_BYTES:
            raise UsageError(
                f"{tool} renders more than {MOST_BYTES >> 20} MiB for {path}", fix=by_hand
            )
        output.seek(0)
        errors.seek(0)
        text = output.read().decode("utf-8", "replace")
        message = errors.read(MOST_BYTES).decode("utf-8", "replace")
    if status:
        raise UsageError(
            f"{tool} can't render {path}: {_reason(message) or f'exit status {status}'}",
            fix=f"to find the cause, run `{' '.join([tool, *words[2:]])}`",
        )
    return text


def _reason(message: str) -> str:
    """Return the last line with words of a tool's standard error or, if kubectl logs the error
    (err="…", or several lines between `err=<` and `>`), this error without the log's prefix.
    """
    lines = [line.strip() for line in message.splitlines() if re.search(r"\w", line)]
    starts = [number for number, line in enumerate(lines) if line.endswith("err=<")]
    text = " ".join(lines[starts[-1] + 1 :] if starts else lines[-1:])
    logged = _LOGGED.search(text)
    return re.sub(r"\\(.)", r"\1", logged[1]) if logged else text


def _outside(words: Sequence[str], roots: Sequence[Path]) -> str:
    """Return the path outside the roots that a tool would read: a values file, or an input of the
    folder.
    """
    for option, file in pairwise(words):
        if option == "--values" and not is_inside(Path(file).resolve(), roots):
            return f"{file} is outside the folder that this server may read"
    return outside_reference(Path(words[-1]), roots)


def _allowed_roots() -> tuple[Path, ...]:
    """Return the folders that a tool may read: the server's folder, and this process's temporary
    folder.
    """
    return (*_roots, Path(tempfile.gettempdir()).resolve())


def _isolated_environment(scratch: str) -> dict[str, str]:
    """Return an environment without credentials, programs, plugins, or network access."""
    homes = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {
        "PATH": scratch,
        "LANG": "C.UTF-8",
        **dict.fromkeys(homes, scratch),
        **dict.fromkeys(proxies, _NO_PROXY_HERE),
    }


def _limits(*, isolated: bool) -> Callable[[], None]:
    """Return the function that limits a started process before its program runs."""
    library = ctypes.CDLL(None) if isolated and sys.platform == "linux" else None

    def limit() -> None:
        # Some systems don't support a limit, and some don't let users create namespaces.
        for kind, most in (
            (resource.RLIMIT_FSIZE, MOST_BYTES),
            (resource.RLIMIT_AS, _MOST_MEMORY),
            (resource.RLIMIT_CORE, 0),
        ):
            with suppress(OSError, ValueError):
                resource.setrlimit(kind, (most, most))
        if library is not None:
            library.unshare(_NEW_USER_AND_NETWORK)

    return limit


def _end(started: subprocess.Popen[bytes]) -> None:
    """End a tool and every program that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()

"""Where the engine finds its plugins: the language host beside its command, the simulated clouds
where it keeps providers that were installed.

It warns about plugins that it meets anywhere else, such as on PATH.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shlex
import shutil
import sys
from pathlib import Path

from dra_sandbox.cache import cache_folder, obtain
from dra_sandbox.clouds import packages
from dra_sandbox.tools import PulumiCli
from dra_sandbox.tools.pulumi_cli import LANGUAGE_HOST


def bin_folder(cli: PulumiCli) -> Path:
    """The folder to run `cli` from, one per CLI and interpreter in the per-user cache.

    A CLI that brings the vendor's language host is linked, so that it still finds that host beside
    its real file; another one gets ours beside it.
    """
    host = _launcher("dra_sandbox.language_host")
    digest = hashlib.sha256(
        repr((str(cli.binary), cli.version, cli.has_language_host, host)).encode()
    ).hexdigest()

    def fill(folder: Path) -> None:
        if cli.has_language_host:
            (folder / "pulumi").symlink_to(cli.binary)
        else:
            _place(cli.binary.resolve(), folder / "pulumi")
            _write_script(folder / LANGUAGE_HOST, host)

    return obtain(cache_folder() / "bin" / digest[:16], fill)


def install_simulated_clouds(pulumi_home: Path) -> None:
    """Put the simulated clouds among the installed plugins of `pulumi_home`, under the versions of
    the installed SDKs.

    A cloud whose SDK is not installed has no programs here either, and is left out.
    """
    for cloud in packages():
        try:
            version = importlib.metadata.version(f"pulumi-{cloud}")
        except importlib.metadata.PackageNotFoundError:
            continue
        folder = pulumi_home / "plugins" / f"resource-{cloud}-v{version}"
        folder.mkdir(parents=True, exist_ok=True)
        _write_script(folder / f"pulumi-resource-{cloud}", _launcher("dra_sandbox.clouds", cloud))


def _launcher(module: str, *arguments: str) -> str:
    """A script that runs `module` here; -P keeps the program's folder, where the engine starts it,
    off the path.
    """
    command = " ".join(
        shlex.quote(word) for word in (sys.executable, "-P", "-m", module, *arguments)
    )
    return f'#!/bin/sh\nexec {command} "$@"\n'


def _write_script(path: Path, text: str) -> None:
    """Write an executable file unless it is there already; one that runs must not be written to."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    staging.write_text(text, encoding="utf-8")
    staging.chmod(0o755)
    staging.replace(path)


def _place(binary: Path, target: Path) -> None:
    """A second name for `binary`, or a copy where the file system has no hard links."""
    try:
        os.link(binary, target)
    except OSError:
        shutil.copy2(binary, target)

"""Install plugins in the places that the engine searches: the language host next to its command,
and the simulated clouds among the installed providers.

The engine prints a warning about plugins in other places, such as PATH.
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
    """Return the folder from which to run `cli`.

    The per-user cache has one folder for each CLI and interpreter. If the CLI includes Pulumi's own
    language host, the folder contains a link to the CLI, so that the CLI still finds that host next
    to its real file. Otherwise, this package's host is installed next to it.
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
    """Install the simulated clouds as plugins of `pulumi_home`, with the versions of the installed
    SDKs. Clouds whose SDK isn't installed are omitted.
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
    """Return a script that runs `module`. The engine starts the script in the program's folder.

    The option -P keeps this folder off the import path.
    """
    command = " ".join(
        shlex.quote(word) for word in (sys.executable, "-P", "-m", module, *arguments)
    )
    return f'#!/bin/sh\nexec {command} "$@"\n'


def _write_script(path: Path, text: str) -> None:
    """Write an executable file unless it exists, because a running file must not be overwritten."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    staging = path.with_name(f".{path.name}.{os.getpid()}")
    staging.write_text(text, encoding="utf-8")
    staging.chmod(0o755)
    staging.replace(path)


def _place(binary: Path, target: Path) -> None:
    """Create a hard link to `binary`, or a copy if the file system doesn't support hard links."""
    try:
        os.link(binary, target)
    except OSError:
        shutil.copy2(binary, target)

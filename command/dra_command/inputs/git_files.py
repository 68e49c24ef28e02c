"""Files of a git repository at a ref, read without changing the working tree."""

from __future__ import annotations

import argparse
import atexit
import glob
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

from dra_planner.errors import NOWHERE, Place, SourceError

_REF_FIX: Final = "use a branch, tag, or commit of a git repository"


def checked_out(repository: Path, ref: str, place: Place) -> Path:
    """Return a temporary folder with the contents of a repository's folder at the ref. The folder
    is removed when the program ends. Raises SourceError if there is no such repository or ref.
    """
    commit = _git(
        repository,
        place,
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{ref}^{{commit}}",
        sought=f'the ref "{ref}"',
    )
    below = _git(repository, place, "rev-parse", "--show-prefix").decode().strip()
    return _exported(repository, commit.decode().strip(), below, place)


def options_at(
    values: argparse.Namespace, here: Path, folder: Path, listed: tuple[str, ...] = ("paths",)
) -> argparse.Namespace:
    """Return options for a folder that holds the files of `here` at another ref.

    Files, manifests, and stacks that don't exist at the ref are omitted. `listed` contains the
    names of options that accept several paths.
    """

    def moved(path: str) -> str:
        return os.path.relpath(path, here) if os.path.isabs(path) else path

    def exists(path: str) -> bool:
        return (folder / path).exists() or bool(glob.glob(str(folder / path), recursive=True))

    then = argparse.Namespace(**vars(values))
    for name in listed:
        setattr(then, name, [path for path in map(moved, getattr(values, name)) if exists(path)])
    for name in ("fleet", "observed"):
        path = getattr(values, name, None)
        if path:
            was = folder / moved(path)
            setattr(then, name, str(was) if was.is_file() else None)
    if values.stack and not (folder / "stacks" / f"Pulumi.{values.stack}.yaml").is_file():
        then.stack = None
    return then


def top_of(folder: Path) -> Path:
    """Return the root of a folder's repository. Raises SourceError if it isn't in one."""
    return Path(
        _git(folder, NOWHERE, "rev-parse", "--show-toplevel", sought="a repository")
        .decode()
        .strip()
    ).resolve()


@cache
def _exported(repository: Path, commit: str, below: str, place: Place) -> Path:
    tree = f"{commit}:{below}" if below else commit
    target = Path(tempfile.mkdtemp(prefix="pulumi-dra-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    with tarfile.open(
        fileobj=io.BytesIO(_git(repository, place, "archive", "--format=tar", tree))
    ) as archive:
        archive.extractall(target, filter="data")
    return target


def _ref_fix(repository: Path) -> str:
    """Return how to make a ref available. Pipelines often clone only the last commit."""
    words = ["git", "-C", str(repository), "rev-parse", "--is-shallow-repository"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return _REF_FIX
    if done.stdout.strip() != "true":
        return _REF_FIX
    return (
        "this is a shallow clone, so fetch the whole history: fetch-depth: 0 in "
        'actions/checkout, GIT_DEPTH: "0" in GitLab CI, or git fetch --unshallow'
    )


def _folder(repository: Path) -> str:
    name = os.path.relpath(repository)
    return "the current folder" if name == "." else str(repository.resolve())


def _git(repository: Path, place: Place, *words: str, sought: str = "this ref") -> bytes:
    command = ["git", "-C", str(repository), *words]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise SourceError(
            f"git can't run: {error.strerror}", place=place, fix="install git"
        ) from None
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise SourceError(
            f"git can't find {sought} in {_folder(repository)}{f': {message}' if message else ''}",
            place=place,
            fix=_ref_fix(repository),
        )
    return done.stdout

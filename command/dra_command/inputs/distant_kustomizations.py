"""Kustomizations that name a file as a part, although they're in another folder, or their file has
another name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, compress, islice
from typing import Any, Final

from dra_planner.errors import PlannerError
from dra_planner.manifests.documents import read_documents
from dra_planner.sources import MANIFEST_SUFFIXES, read_file

_FILE: Final = re.compile(r"^kind:\s*[\"']?(?:Kustomization|Component)\b", re.MULTILINE)
_NAMED: Final = "kustomization"
_LARGEST: Final = 65_536  # bytes of a kustomization file
_LEVELS: Final = 2  # levels of folders to search below one folder
_MOST: Final = 500  # files to read for one folder, and folders to list on each level


def find_naming_folder(
    name: str, folders: Iterator[str], parts_of: Callable[[Mapping[str, Any]], Iterator[str]]
) -> str:
    """Return the folder of a kustomization that names a file as a part, or "". The search covers
    the folders of the file's project and two levels of folders in them.

    `folders` are the folder of the file and the folders above it.
    """
    file = os.path.realpath(name)
    for folder in _of_project(list(folders)):
        for where, data in _kustomizations_near(os.path.abspath(folder)):
            if file in {os.path.realpath(os.path.join(where, each)) for each in parts_of(data)}:
                return os.path.relpath(where)
    return ""


def _of_project(folders: Sequence[str]) -> Sequence[str]:
    """Return the folders up to the root of the git repository. Without a repository, these are only
    the working directory and folders in it, because the folders above can contain any files.
    """
    for number, folder in enumerate(folders, 1):
        if os.path.exists(os.path.join(folder, ".git")):
            return folders[:number]
    here = os.getcwd()
    inside = (os.path.commonpath((os.path.abspath(each), here)) == here for each in folders)
    return list(compress(folders, inside)) or folders[:1]


@cache
def _kustomizations_near(folder: str) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the kustomizations in a folder and in the folders below it, each with its folder."""
    return tuple(
        (os.path.dirname(path), data)
        for path in islice(_files(folder), _MOST)
        if (data := _content(path)) is not None
    )


def _files(folder: str) -> Iterator[str]:
    """Yield the files that may be kustomizations, level by level: the nearest ones come first."""
    level = [folder]
    for _ in range(_LEVELS + 1):
        below: list[str] = []
        for path in chain.from_iterable(map(_entries, level)):
            if _may_be_kustomization(path):
                yield path
            elif os.path.isdir(path):
                below.append(path)
        level = below[:_MOST]


def _entries(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if not name.startswith(".")]


def _may_be_kustomization(path: str) -> bool:
    lower = os.path.basename(path).lower()
    return (
        (lower == _NAMED or lower.endswith(MANIFEST_SUFFIXES))
        and os.path.isfile(path)
        and os.path.getsize(path) <= _LARGEST
    )


def _content(path: str) -> Mapping[str, Any] | None:
    """Return the content of a file if it contains a kustomization."""
    try:
        source = read_file(path)
        if not (_FILE.search(source.text) or os.path.basename(path).lower().startswith(_NAMED)):
            return None
        documents, _ = read_documents([source])
    except PlannerError:
        return None
    data = documents[0].data if documents else None
    return data if isinstance(data, Mapping) else None

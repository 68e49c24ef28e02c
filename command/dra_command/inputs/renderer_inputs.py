"""Charts and kustomizations that refer to files outside the folders that a tool may read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.sources import KUSTOMIZATION_FILES

_PLUGINS: Final = ("generators", "transformers", "validators")
"""Fields whose files or inline configuration can refer to other files."""
_NO_PATHS: Final = frozenset({
    "annotations", "buildMetadata", "commonAnnotations", "commonLabels", "images", "labels",
    "literals", "metadata", "options", "patch", "target", "vars",
})  # fmt: skip
"""Fields of a kustomization that don't contain paths."""


def outside_reference(folder: Path, roots: Sequence[Path]) -> str:
    """Return the path outside the roots that a chart or kustomization, or one that it includes,
    reads. "" if there is none.

    helm follows links, and kustomize fetches addresses wherever it accepts a file.
    """
    waiting, seen = [folder], set[Path]()
    while waiting:
        here = waiting.pop().resolve()
        if here in seen:
            continue
        seen.add(here)
        if not is_inside(here, roots):
            return f"{here.name} is outside the folder that this server may read"
        if link := next(_links_outside(here, roots), ""):
            return f"{link} links to a file outside the folder that this server may read"
        for key, text in _written(here):
            if "://" in text or text.startswith(("git@", "git::")) or "?ref=" in text:
                return f"{key} is a URL, but this server doesn't fetch URLs"
            path = here / text
            if "\n" in text or not os.path.lexists(path):
                continue
            if not is_inside(path.resolve(), roots):
                return f"{key} is {text}, which is outside the folder that this server may read"
            if path.is_dir():
                waiting.append(path)
    return ""


def is_inside(path: Path, roots: Sequence[Path]) -> bool:
    """Return whether a real path is one of the folders, or below one."""
    return any(path.is_relative_to(root) for root in roots)


def _links_outside(folder: Path, roots: Sequence[Path]) -> Iterator[str]:
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(where, name)
            if path.is_symlink() and not is_inside(path.resolve(), roots):
                yield os.path.relpath(path, folder)


def _written(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts in a folder's kustomization that might be paths, and the text of plugin
    files, each with its field.
    """
    for name in KUSTOMIZATION_FILES:
        data = _data(folder / name)
        yield from _texts("", data)
        for key in _PLUGINS:
            named = data.get(key) if isinstance(data, Mapping) else None
            for text in named if isinstance(named, list) else ():
                path = folder / str(text)
                if "\n" not in str(text) and path.is_file():
                    yield key, path.read_text(encoding="utf-8", errors="replace")


def _data(file: Path) -> object:
    try:
        return read_yaml(file.read_text(encoding="utf-8"))[0] if file.is_file() else {}
    except (OSError, ValueError, Fault):
        return {}  # the tool reports why it can't read the file


def _texts(key: str, data: object) -> Iterator[tuple[str, str]]:
    if isinstance(data, str) and "\0" not in data:
        yield key, data
    elif isinstance(data, Mapping):
        for name, value in data.items():
            if name not in _NO_PATHS:
                yield from _texts(str(name), value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(key, value)

"""Kustomizations among the paths of `migrate`, which changes their source files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dra_command.command_line.arguments import UsageError
from dra_command.inputs.kustomizations import (
    Kustomization,
    kustomizations_below,
    read_kustomization,
    with_included,
)
from dra_command.inputs.rendering import kustomization_of
from dra_planner.documents.plain_values import listed
from dra_planner.errors import SourceError
from dra_planner.manifests.workloads.unread_objects import find_device_words
from dra_planner.migration import MigratedFile, PatchFile
from dra_planner.sources import KUSTOMIZATIONS, Source, read_file

_HIGHEST: Final = 5  # number of folders above a file to search for its kustomizations
_STRATEGIC: Final = ("patches", "patchesStrategicMerge")
_RENAMING: Final = ("namePrefix", "nameSuffix")
_PATCHES: Final = (*_STRATEGIC, "patchesJson6902")


def require_whole_kustomizations(paths: Sequence[str]) -> None:
    """Raise UsageError if a kustomization can't be migrated with these paths: they don't contain
    the files that request its devices, or it patches devices without a file of merge patches.
    """
    roots = [os.path.realpath(path) for path in paths]
    for path in paths:
        is_file = os.path.basename(path).lower() in KUSTOMIZATIONS
        folder = os.path.dirname(path) or "." if is_file else path
        if is_file and os.path.isfile(path):
            _require_files(read_kustomization(folder), [], f"{path} is the file of a kustomization")
        for each in kustomizations_below(folder):
            _require_files(
                each,
                roots,
                f"{each.folder} is a kustomization that refers to files outside the paths that you passed",
            )
            _require_patch_files(each)


def find_patch_files(paths: Sequence[str], sources: Iterable[Source]) -> dict[str, PatchFile]:
    """Return the sources that kustomizations apply as patches, by name."""
    users: dict[str, list[Kustomization]] = {}
    for each in _near(paths):
        for patch in _patch_paths(each):
            users.setdefault(patch, []).append(each)
    found: dict[str, PatchFile] = {}
    for source in sources:
        if applied := users.get(os.path.realpath(source.name)):
            files = (kustomization_of(Path(each.folder)) for each in applied)
            kustomizations = tuple(read_file(str(file)) for file in files if file is not None)
            found[source.name] = PatchFile(_claims_file(source.name), kustomizations)
    return found


def find_renaming(paths: Sequence[str], files: Iterable[MigratedFile]) -> Iterator[Source]:
    """Yield the kustomizations that rename objects of migrated files, unless they already rename
    references to claim templates.
    """
    with_claims = {
        os.path.realpath(each.source.name)
        for each in files
        if each.is_changed and "resourceClaimTemplateName" in each.text
    }
    for each in _near(paths) if with_claims else ():
        if not any(each.data.get(key) for key in _RENAMING) or _renames_references(each):
            continue
        names = (name for part in with_included(each) for name in part.names())
        file = kustomization_of(Path(each.folder))
        if file is not None and not with_claims.isdisjoint(names):
            yield read_file(str(file))


def _renames_references(found: Kustomization) -> bool:
    return any(
        isinstance(name, str) and "ResourceClaimTemplate" in _text(os.path.join(found.path, name))
        for name in listed(found.data.get("configurations"))
    )


def _require_files(found: Kustomization, roots: Sequence[str], what: str) -> None:
    """Raise UsageError if files outside the roots request the devices of a kustomization."""
    parts = list(with_included(found))
    files = sorted({name for part in parts for name in part.names() if os.path.isfile(name)})
    outside = [name for name in files if not _is_below(name, roots)]
    is_bare = not any(_is_below(name, roots) for name in files)
    if outside and (is_bare or any(map(_requests_devices, outside))):
        folders = [part.path for part in parts]
        common = os.path.relpath(os.path.commonpath([*folders, *map(os.path.dirname, files)]))
        raise UsageError(
            f"{what}. `migrate` changes the files for bases and patches together",
            fix=f"pass the folder that contains them: `pulumi-dra migrate {common}`",
        )


def _require_patch_files(found: Kustomization) -> None:
    """Raise UsageError if a patch that `migrate` can't rewrite requests devices, because the patch
    would no longer match a migrated base.
    """
    for text in _unwritable_patches(found):
        if word := find_device_words(text.replace("~1", "/")):
            raise UsageError(
                f"the kustomization {found.folder} has an inline or JSON 6902 patch with {word}, "
                "which `migrate` can't rewrite",
                fix="write the patch as a strategic merge patch in a separate file, and run "
                "`migrate` again",
            )


def _unwritable_patches(found: Kustomization) -> Iterator[str]:
    for entry in (entry for key in _PATCHES for entry in listed(found.data.get(key))):
        inline = entry.get("patch") if isinstance(entry, Mapping) else entry
        if isinstance(inline, str) and "\n" in inline.strip():
            yield inline
    for path in _patch_paths(found):
        text = _text(path)
        if text.lstrip().startswith(("[", "- ")):
            yield text


def _patch_paths(found: Kustomization) -> Iterator[str]:
    """Yield the real paths of the files that a kustomization applies as patches."""
    for entry in (entry for key in _PATCHES for entry in listed(found.data.get(key))):
        name = _named(entry)
        if name and os.path.isfile(os.path.join(found.path, name)):
            yield os.path.realpath(os.path.join(found.path, name))


def _named(entry: Any) -> str:
    name = entry.get("path") if isinstance(entry, Mapping) else entry
    return name if isinstance(name, str) and not {"\n", "\0"} & set(name) else ""


def _near(paths: Sequence[str]) -> list[Kustomization]:
    """Return the kustomizations below the folders among the paths, and above the files."""
    found: dict[str, Kustomization] = {}
    for path in paths:
        above = [str(each) for each in Path(path).resolve().parents][:_HIGHEST]
        near = (
            kustomizations_below(path)
            if os.path.isdir(path)
            else (
                read_kustomization(os.path.relpath(folder))
                for folder in above
                if kustomization_of(Path(folder)) is not None
            )
        )
        found.update((each.path, each) for each in near)
    return list(found.values())


def _claims_file(patch: str) -> str:
    """Return the name of a new file next to a patch."""
    base, number = f"{os.path.splitext(patch)[0]}-claim", 2
    name = f"{base}.yaml"
    while os.path.lexists(name):
        name, number = f"{base}-{number}.yaml", number + 1
    return name


def _requests_devices(path: str) -> bool:
    return bool(find_device_words(_text(path)))


def _text(path: str) -> str:
    try:
        return read_file(path).text
    except SourceError:
        return ""


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(os.path.commonpath((path, root)) == root for root in roots)

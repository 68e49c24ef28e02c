"""Kustomizations below the named folders. The command builds each kustomization that no other
kustomization includes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from dra_command.command_line.arguments import UsageError
from dra_command.inputs.kustomization_changes import find_changes
from dra_command.inputs.rendering import (
    NO_BUILDER,
    RENDERED,
    kustomization_of,
    kustomize_build,
    run_renderer,
)
from dra_command.inputs.skipped_files import build_fix
from dra_planner.documents.plain_values import listed
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.plan.judgement.kustomize import is_guards_component
from dra_planner.records import equality
from dra_planner.sources import (
    KUSTOMIZATIONS,
    MissingManifests,
    Source,
    is_excluded,
    manifests_below,
)

NOT_BUILT: Final = "kustomization-not-built"
OF_FILES: Final = "a saved plan uses the files without changes"
_MOST: Final = 64  # kustomizations that one command builds
_SHOWN: Final = 4  # changes in a message
_INCLUDES: Final = ("resources", "bases", "components")
_GENERATORS: Final = ("configMapGenerator", "secretGenerator")
_REMOTE: Final = re.compile(r"^[\w+.-]+://|^git@|^(?:www\.)?[\w-]+\.[a-z]{2,}/[\w.-]+/|\?ref=")


class Built(Struct, frozen=True):
    """The manifests that kustomizations build, the real paths of the files that they use, and notes
    on the kustomizations that aren't built.

    `absent` contains a source without text for each unbuilt kustomization whose changes affect a
    plan.
    """

    sources: tuple[Source, ...] = ()
    files: frozenset[str] = frozenset()
    notes: tuple[Diagnostic, ...] = ()
    absent: tuple[Source, ...] = ()

    def reads_whole(self, path: str) -> bool:
        """Return whether no manifest below a path remains to be read."""
        if not self.sources or not os.path.isdir(path):
            return False
        return all(map(self.uses, manifests_below(path)))

    def unbuilt_error(self) -> UsageError | None:
        """Return an error if the paths contain only a kustomization that isn't built."""
        for note in self.notes:
            return UsageError(note.message, fix=note.fix)
        for manifests in (each.absent for each in self.absent if each.absent is not None):
            return UsageError(f"{manifests.title}: {manifests.reason}", fix=manifests.instead)
        return None

    def uses(self, file: str) -> bool:
        """Return whether a kustomization uses a file."""
        return os.path.realpath(file) in self.files


@equality(unhashed=("data",))
class Kustomization(Struct, frozen=True):
    """A folder with a kustomization, and the content of its file."""

    folder: str  # the path as the user would write it
    data: Mapping[str, Any]
    fault: str = ""  # why its file isn't a kustomization

    @property
    def path(self) -> str:
        """The real path of the kustomization's folder."""
        return os.path.realpath(self.folder)

    @property
    def is_component(self) -> bool:
        return self.data.get("kind") == "Component"

    def includes(self) -> Iterator[str]:
        """Yield the entries that the kustomization includes, as written: files, folders, and
        addresses.
        """
        for key in _INCLUDES:
            yield from _texts(self.data.get(key))

    def names(self) -> Iterator[str]:
        """Yield the real paths of all files and folders that the kustomization names."""
        for text in _texts(self.data):
            path = os.path.join(self.path, text.rpartition("=")[2])  # a generator's KEY=FILE
            if "\n" not in text and os.path.exists(path):
                yield os.path.realpath(path)

    def missing(self) -> str:
        """Return an included entry or a generator's file that isn't in this repository, or "" if
        all of them are.
        """
        for text in (*self.includes(), *self._generator_files()):
            if not os.path.exists(os.path.join(self.path, text)):
                return text
        return ""

    def _generator_files(self) -> Iterator[str]:
        """Yield the files from which ConfigMaps and Secrets are generated."""
        for key in _GENERATORS:
            for generator in listed(self.data.get(key)):
                if isinstance(generator, Mapping):
                    for entry in _texts([generator.get(each) for each in ("files", "envs", "env")]):
                        yield entry.rpartition("=")[2]  # KEY=FILE


def build_kustomizations(paths: Iterable[str], exclude: Sequence[str] = ()) -> Built:
    """Build the kustomizations in the folders among the paths.

    If a kustomization is a base or component of another one, only the other one is built. If a
    kustomization can't be built, for example because a base is in another repository, its files are
    read unchanged, and the result contains a note.
    """
    given = tuple(paths)
    roots = _roots(given, exclude)
    if not roots:
        return Built()
    build = kustomize_build()
    if build is None:
        return Built(absent=tuple(_absent(roots, given, _reasons(roots, NO_BUILDER))))
    sources: list[Source] = []
    files: set[str] = set()
    reasons: dict[Kustomization, str] = {}
    failed: set[Kustomization] = set()
    for number, root in enumerate(roots):
        reason = (
            f"these folders contain more than {_MOST} kustomizations"
            if number >= _MOST
            else _missing(root)
        )
        if not reason:
            try:
                text = run_renderer([*build, "--", root.folder], root.folder)
                sources.append(Source(f"{root.folder}{RENDERED}", text))
                files |= _files(root)
                continue
            except UsageError as error:
                reason = error.message
                failed.add(root)
        reasons[root] = reason
    absent = tuple(_absent(list(reasons), given, reasons, failed=failed))
    marked = {each.name for each in absent}
    notes = (
        _note(root, skip_reason, is_failed=root in failed)
        for root, skip_reason in reasons.items()
        if root.folder not in marked
    )
    return Built(tuple(sources), frozenset(files), tuple(notes), absent)


def find_absent_changes(paths: Iterable[str], *, has_guards: bool) -> tuple[Source, ...]:
    """Among the folders in the paths, return the kustomizations whose changes affect a plan, if the
    plan uses the files without these changes. A plan with guards already includes the changes of
    their Component.
    """
    given = tuple(paths)
    roots = _roots(given, ())
    reasons = _reasons(roots, OF_FILES)
    return tuple(_absent(roots, given, reasons, has_guards=has_guards))


class GuardsFile(Struct, frozen=True):
    """A guards Component: the path of its file, and its content."""

    path: str
    data: Mapping[str, Any]


def find_guards_files(paths: Iterable[str]) -> tuple[GuardsFile, ...]:
    """Return the guards Components that the kustomizations in the folders among the paths
    include.
    """
    found = {
        each.path: GuardsFile(f"{each.folder}/kustomization.yaml", each.data)
        for root in _roots(paths, ())
        for each in with_included(root)
        if is_guards_component(each.data)
    }
    return tuple(found.values())


def _reasons(roots: Iterable[Kustomization], otherwise: str) -> dict[Kustomization, str]:
    """Return the reason why each kustomization isn't built: a missing file, or otherwise the given
    reason.
    """
    return {root: _missing(root) or otherwise for root in roots}


def _roots(paths: Iterable[str], exclude: Sequence[str]) -> list[Kustomization]:
    """Return the kustomizations below the paths that no other one includes."""
    found = {each.path: each for path in paths for each in kustomizations_below(path, exclude)}
    included = {
        name
        for each in found.values()
        for text in each.includes()
        if (name := os.path.realpath(os.path.join(each.path, text))) != each.path
    }
    return [
        each
        for each in found.values()
        if each.path not in included
        and not each.is_component
        and (each.fault or any(each.includes()))
    ]


def _absent(
    roots: Sequence[Kustomization],
    paths: Sequence[str],
    reasons: Mapping[Kustomization, str],
    *,
    has_guards: bool = False,
    failed: Collection[Kustomization] = (),
) -> Iterator[Source]:
    """Yield a source without text for each kustomization whose changes aren't visible in its files,
    and for each invalid kustomization, which other tools can't build either. `failed` are the
    kustomizations that the tool rejects.
    """
    read = [os.path.realpath(path) for path in paths]
    users = Counter(each.path for root in roots for each in with_included(root))
    for root in roots:
        parts = [
            each
            for each in with_included(root)
            if not (has_guards and is_guards_component(each.data))
        ]
        changes = list(dict.fromkeys(_changes(root, parts, read, users)))
        is_invalid = root in failed or root.fault
        if changes or is_invalid:
            more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
            yield Source(
                root.folder,
                "",
                absent=MissingManifests(
                    title=f"Kustomization {root.folder}",
                    reason=f"the kustomization isn't built, because {reasons[root]}",
                    instead=_instead(root, is_failed=root in failed).replace(
                        "pulumi-dra check", "pulumi-dra plan"
                    ),
                    missing="its manifests"
                    if is_invalid
                    else f"its changes ({', '.join(changes[:_SHOWN])}{more})",
                ),
            )


def _changes(
    root: Kustomization,
    parts: Sequence[Kustomization],
    read: Sequence[str],
    users: Mapping[str, int],
) -> Iterator[str]:
    """Yield the changes that building a kustomization would make and that affect a plan. `parts`
    are the root and the kustomizations that the root includes.
    """
    known = {each.path for each in parts}
    for each in parts:
        yield from find_changes(each.path, each.data)
        if each.path != root.path and users[each.path] > 1:
            yield f"{each.folder} in {users[each.path]} kustomizations"
        for text in each.includes():
            path = os.path.realpath(os.path.join(each.path, text))
            if not os.path.exists(path):
                yield f"the manifests of {text}"
            elif os.path.isdir(path) and path not in known:
                continue  # guards
            elif not any(os.path.commonpath((path, above)) == above for above in read):
                yield text


def _instead(root: Kustomization, *, is_failed: bool) -> str:
    """Return how to pass the manifests of an unbuilt kustomization. `is_failed` means that the tool
    rejects it, so building it again here fails in the same way.
    """
    found = _missing_entry(root)
    if found is not None and not _REMOTE.search(found[1]):
        folder, text = found
        return f"add {text} to {folder}, or build the manifests on another machine and pass them"
    if is_failed:
        return "fix this error, or build the manifests on another machine and pass them"
    build = build_fix(root.folder)
    return f"{build} with access to the network" if found else build


def _note(root: Kustomization, reason: str, *, is_failed: bool) -> Diagnostic:
    message = (
        f"the kustomization {root.folder} couldn't be built ({reason}), so the command reads its "
        "files without the kustomization's changes"
    )
    fix = _instead(root, is_failed=is_failed)
    return Diagnostic("note", NOT_BUILT, message, Place(root.folder), fix)


def _missing(root: Kustomization) -> str:
    """Return why a kustomization can't be built here, or "" if nothing is missing."""
    for each in with_included(root):
        if each.fault:
            return f"{each.folder}/{each.fault}"
    found = _missing_entry(root)
    if found is None:
        return ""
    folder, text = found
    problem = "is another repository" if _REMOTE.search(text) else "doesn't exist"
    return f"{text} in {folder} {problem}"


def _missing_entry(root: Kustomization) -> tuple[str, str] | None:
    """Return the first entry that isn't in this repository, after the folder that names it."""
    for each in with_included(root):
        if text := each.missing():
            return each.folder, text
    return None


def _files(root: Kustomization) -> set[str]:
    """Return the real paths of the files that a kustomization and those that it includes use."""
    return {
        name for each in with_included(root) for name in each.names() if not os.path.isdir(name)
    }


def with_included(root: Kustomization) -> Iterator[Kustomization]:
    """Yield a kustomization and all kustomizations in this repository that it includes."""
    waiting, seen = [root], {root.path}
    while waiting:
        here = waiting.pop()
        yield here
        for text in here.includes():
            path = os.path.realpath(os.path.join(here.path, text))
            if path not in seen and os.path.isdir(path):
                seen.add(path)
                waiting.append(read_kustomization(os.path.relpath(path)))


def kustomizations_below(path: str, exclude: Sequence[str] = ()) -> Iterator[Kustomization]:
    """Yield the kustomizations in a folder and below it; links to folders are followed once."""
    seen: set[str] = set()
    for where, folders, files in os.walk(path, followlinks=True):
        real = os.path.realpath(where)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        is_left_out = any(is_excluded(os.path.join(where, "_"), pattern) for pattern in exclude)
        if not is_left_out and KUSTOMIZATIONS & {*map(str.lower, files)}:
            yield read_kustomization(os.path.normpath(where))


def read_kustomization(folder: str) -> Kustomization:
    """Return the kustomization of a folder, without content if its file can't be read."""
    file = kustomization_of(Path(folder))
    if file is None:
        return Kustomization(folder, {})
    try:
        data = read_yaml(file.read_text(encoding="utf-8"))[0]
    except (OSError, ValueError, Fault):
        return Kustomization(folder, {}, f"{file.name} can't be read as YAML")
    if isinstance(data, Mapping):
        return Kustomization(folder, data)
    return Kustomization(folder, {}, "" if data is None else f"{file.name} isn't a mapping")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str) and "\0" not in value:  # a null byte, which paths never contain
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)

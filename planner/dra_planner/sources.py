"""Sources: texts with manifests, and one digest over all their documents.

This module imports a YAML parser only when a text is read, so that the Pulumi program can check
whether a plan is stale without one.
"""

from __future__ import annotations

import difflib
import fnmatch
import glob
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TextIO

from msgspec import Struct

from dra_planner.errors import Place, SourceError
from dra_planner.records import equality
from dra_planner.wording import counted, either

if TYPE_CHECKING:
    from dra_planner.documents.text_documents import TextDocuments

MANIFEST_SUFFIXES: Final = (".yaml", ".yml", ".json")
PAGE_SUFFIXES: Final = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".asc")
SCRIPT_SUFFIXES: Final = (".sh", ".bash")
STDIN_NAME: Final = "<stdin>"
MAX_FILE_BYTES: Final = 64 * 2**20
MAX_TOTAL_BYTES: Final = 256 * 2**20
MAX_FILES: Final = 20_000
_LISTED: Final = 5
"""Maximum number of names in a folder that an error message lists."""

CONFIGURATION: Final = "pulumi-dra.yaml"
"""The configuration file of `check` and the policy pack, which doesn't contain manifests."""
KUSTOMIZATION_FILES: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""The names of files that kustomize reads (kubernetes-sigs/kustomize:api/konfig/general.go)."""
KUSTOMIZATIONS: Final = frozenset(map(str.lower, KUSTOMIZATION_FILES))
_OBJECT: Final = re.compile(r"""^(?:["']?apiVersion|\s*\{)""", re.MULTILINE)
# one pattern per fixed text at its start, which `re` finds fast; `\b` would have to come first, so
# a condition on the character before the text follows it
_UNFINISHED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\{\{",
        r"\$\{",
        r"\$patch",
        r"__[A-Z]",
        r"kind: Config(?!\w)",
        r"spark-kubernetes-(?<!\wspark-kubernetes-)",
        r"builtin\b(?<!\wbuiltin)",
        r"name: (?<!\wname: )(?:etcd|kube-)",
        r": [\"']?(?:\(?\$[A-Z(]|<[\w .-]+>|[A-Z]+[_ ][A-Z][A-Z_ ]+\b)",
    )
)
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class MissingManifests(Struct, frozen=True):
    """Manifests of a folder or file that weren't built. `missing` names them in the sentence
    "`title`: `reason`, so `missing` aren't in the plan".
    """

    title: str
    reason: str
    instead: str
    missing: str


@equality(ignored=("absent",))
class Source(Struct, frozen=True, order=True, dict=True):
    """A text and its name in messages: a path as the user wrote it, or `<stdin>`.

    A skipped source doesn't contain manifests. It's part of the digest, but isn't read.
    `namespaces` are (first line, last line, namespace) of objects that are applied with `kubectl
    -n`. `absent` are manifests that belong here but aren't in the text.
    """

    name: str
    text: str
    left_alone: bool = False
    namespaces: tuple[tuple[int, int, str], ...] = ()
    absent: MissingManifests | None = None

    @cached_property
    def documents(self) -> TextDocuments:
        """The documents in the text, which is read once. Callers don't change their trees."""
        from dra_planner.documents.text_documents import read_text

        return read_text(self.text)

    def namespace_at(self, line: int) -> str:
        """Return the namespace with which a line is applied, or ""."""
        return next(
            (namespace for first, last, namespace in self.namespaces if first <= line <= last), ""
        )


class Gathered(Struct, frozen=True):
    """The readable sources, sorted by path, and the errors of files that couldn't be read, each
    with its file.
    """

    sources: tuple[Source, ...]
    unreadable: tuple[SourceError, ...] = ()


def read_sources(paths: Sequence[str | Path], stdin: TextIO | None = None) -> tuple[Source, ...]:
    """Return the manifests below these paths, sorted by path, each file once.

    A path is a file, a folder, a glob (which can include `**`), or `-` for standard input (`stdin`,
    by default the process's own). Folders are searched recursively for *.yaml, *.yml, and *.json,
    without hidden entries, kustomization files, and pulumi-dra.yaml. Raises SourceError, with
    further invalid paths in `others`.
    """
    gathered = gather_sources(paths, stdin)
    if gathered.unreadable:
        raise _together(gathered.unreadable)
    return gathered.sources


def gather_sources(
    paths: Sequence[str | Path],
    stdin: TextIO | None = None,
    *,
    exclude: Sequence[str] = (),
    stdin_name: str = STDIN_NAME,
) -> Gathered:
    """Return the manifests below these paths like `read_sources`, and separately the files that
    aren't text.

    `exclude` are names, paths, or globs of files and folders to skip. Raises SourceError for
    missing paths, for folders without manifests, and if nothing can be read or everything is
    excluded.
    """
    reader = _Reader(stdin, exclude, stdin_name)
    for path in paths:
        try:
            reader.add(os.fspath(path))
        except SourceError as error:
            reader.errors.append(error)
    if reader.errors or (reader.unreadable and not reader.sources):
        raise _together((*reader.errors, *reader.unreadable))
    if reader.excluded and not reader.sources:
        raise SourceError(
            f"the exclusions match every file ({counted(reader.excluded, 'file')})",
            place=Place(" ".join(str(path) for path in paths)),
            fix="exclude fewer files",
        )
    return Gathered(tuple(sorted(reader.sources, key=path_order)), tuple(reader.unreadable))


def path_order(source: Source) -> tuple[list[str], Source]:
    """Return the key that sorts sources like `kubectl apply -R`, which walks each folder in the
    order of its entries.
    """
    return source.name.split(os.sep), source


def _together(errors: Sequence[SourceError]) -> SourceError:
    first, *others = errors
    return SourceError(first.message, place=first.place, fix=first.fix, others=tuple(others))


def read_file(path: str | Path) -> Source:
    """Return one file with any name. Raises SourceError if it doesn't exist or isn't text."""
    name = os.fspath(path)
    if not os.path.exists(name):
        raise missing_path_error(name)
    reader = _Reader(None)
    reader.add_file(name)
    return reader.sources[0]


def has_embedded(name: str) -> bool:
    """Return whether a file with this name is a page or a script, which contains manifests among
    other lines.
    """
    return name.lower().endswith(PAGE_SUFFIXES + SCRIPT_SUFFIXES)


def is_terraform(name: str) -> bool:
    """Return whether a file with this name is written in Terraform's language, which embeds charts
    and objects differently.
    """
    return name.lower().endswith(".tf")


def begins_object(text: str) -> bool:
    """Return whether a line might be the first line of a Kubernetes object. Chart values contain
    objects only at deeper levels.
    """
    return bool(_OBJECT.search(text))


def may_be_unfinished(text: str, name: str = "") -> bool:
    """Return whether a text looks like a template or a patch from which another tool creates
    manifests, or like a client's configuration.

    `name` is its file's name, if it has one.
    """
    return any(each.search(text) for each in _UNFINISHED) or is_pod_template(name)


def is_pod_template(name: str) -> bool:
    """Return whether a file has the name of a pod template, to which another tool can add
    containers.
    """
    return "pod-template" in os.path.basename(name).replace("_", "-")


class _Reader:
    """Collects sources and errors from paths."""

    def __init__(
        self, stdin: TextIO | None, exclude: Sequence[str] = (), stdin_name: str = STDIN_NAME
    ) -> None:
        self.sources: list[Source] = []
        self.errors: list[SourceError] = []
        self.unreadable: list[SourceError] = []
        self.excluded = 0
        self._stdin = stdin
        self._stdin_name = stdin_name
        self._exclude = tuple(exclude)
        self._seen: set[str] = set()
        self._total = 0

    def add(self, path: str) -> None:
        if path == "-":
            self._add_stdin()
        elif os.path.isdir(path):
            self._add_folder(path)
        elif os.path.exists(path):
            self._try_file(path)
        elif glob.has_magic(path):
            self._add_glob(path)
        else:
            raise missing_path_error(path)

    def _add_stdin(self) -> None:
        if self._stdin_name in self._seen:
            return
        self._seen.add(self._stdin_name)
        stream = self._stdin if self._stdin is not None else sys.stdin
        raw: IO[bytes] | None = getattr(stream, "buffer", None)
        data = (
            raw.read(MAX_FILE_BYTES + 1)
            if raw is not None
            else stream.read(MAX_FILE_BYTES + 1).encode("utf-8", "surrogateescape")
        )
        text = self._decode(self._stdin_name, data)
        if not text.strip():
            raise SourceError(
                "standard input is empty",
                place=Place(self._stdin_name),
                fix="pipe manifests into standard input: `kustomize build DIR | pulumi-dra plan -`",
            )
        self.sources.append(Source(self._stdin_name, text))

    def _add_folder(self, folder: str) -> None:
        files = list(manifests_below(folder))
        if not files:
            raise _nothing_in(folder)
        for file in files:
            self._try_file(file)

    def _add_glob(self, pattern: str) -> None:
        matches = sorted(glob.glob(pattern, recursive=True))
        if not matches:
            raise SourceError(
                "no file matches",
                place=Place(pattern),
                fix="put the pattern in quotes, and make sure that its folder exists",
            )
        wanted = [
            match
            for match in matches
            if os.path.isdir(match) or _is_manifest(os.path.basename(match))
        ]
        found = False
        for match in wanted:
            if os.path.isdir(match):
                found |= any(True for _ in manifests_below(match))
                for file in manifests_below(match):
                    self._try_file(file)
            else:
                found = True
                self._try_file(match)
        if not found:
            raise SourceError(
                "the only match isn't a manifest"
                if len(matches) == 1
                else f"none of the {len(matches)} matches is a manifest",
                place=Place(pattern),
                fix="use files that end in .yaml, .yml, or .json",
            )

    def _try_file(self, path: str) -> None:
        if any(is_excluded(path, pattern) for pattern in self._exclude):
            self.excluded += 1
            return
        try:
            self.add_file(path)
        except SourceError as error:
            self.unreadable.append(error)

    def add_file(self, path: str) -> None:
        real = os.path.realpath(path)
        if real in self._seen:
            return
        self._seen.add(real)
        if len(self._seen) > MAX_FILES:
            raise SourceError(
                f"the inputs contain more than {MAX_FILES} files",
                place=Place(path),
                fix="pass a folder with fewer files",
            )
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise _not_readable(path, error) from None
        self.sources.append(Source(path, self._decode(path, data)))

    def _decode(self, name: str, data: bytes) -> str:
        self._total += len(data)
        if len(data) > MAX_FILE_BYTES:
            raise SourceError(
                f"is larger than {MAX_FILE_BYTES // 2**20} MiB",
                place=Place(name),
                fix="split the file, or exclude it",
            )
        if self._total > MAX_TOTAL_BYTES:
            raise SourceError(
                f"all manifests together are larger than {MAX_TOTAL_BYTES // 2**20} MiB",
                place=Place(name),
                fix="pass fewer files",
            )
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
            raise SourceError(
                "is UTF-16, not UTF-8"
                if utf16
                else f"isn't UTF-8 (byte 0x{data[error.start]:02x})",
                place=Place(name, line),
                fix="save the file as UTF-8",
            ) from None


def is_excluded(path: str, pattern: str) -> bool:
    """Return whether a pattern matches a file or a folder above it, by its name, its path, or a
    glob.
    """
    path, pattern = (
        os.path.normpath(path).replace(os.sep, "/"),
        pattern.rstrip("/").removeprefix("./"),
    )
    wanted = (pattern, f"*/{pattern}", f"{pattern}/*", f"*/{pattern}/*")
    return any(fnmatch.fnmatchcase(path, each) for each in wanted)


def _is_manifest(name: str) -> bool:
    lower = name.lower()
    is_other = name.startswith(".") or name == CONFIGURATION or lower in KUSTOMIZATIONS
    return lower.endswith(MANIFEST_SUFFIXES) and not is_other


def manifests_below(folder: str) -> Iterator[str]:
    """Yield the manifests below a folder, sorted. Links to folders are followed once."""
    seen = {os.path.realpath(folder)}
    for where, folders, files in os.walk(folder, followlinks=True):
        kept = []
        for name in sorted(folders):
            real = os.path.realpath(os.path.join(where, name))
            if not name.startswith(".") and real not in seen:
                seen.add(real)
                kept.append(name)
        folders[:] = kept
        for name in sorted(files):
            path = os.path.join(where, name)
            if _is_manifest(name) and (os.path.isfile(path) or os.path.islink(path)):
                yield path


def _nothing_in(folder: str) -> SourceError:
    names: set[str] = set()
    with suppress(OSError):
        names = {name.lower() for name in os.listdir(folder)}
    if names & KUSTOMIZATIONS:
        fix = f"render the folder first: `kustomize build {folder} | pulumi-dra plan -`"
        return SourceError("doesn't contain a rendered manifest", place=Place(folder), fix=fix)
    if not os.access(folder, os.R_OK | os.X_OK):
        return SourceError(
            "can't be read: Permission denied",
            place=Place(folder),
            fix="make the folder readable by your user",
        )
    return SourceError(
        "doesn't contain a *.yaml, *.yml, or *.json file",
        place=Place(folder),
        fix="pass the folder that contains the manifests",
    )


def _not_readable(path: str, error: OSError) -> SourceError:
    if isinstance(error, IsADirectoryError):
        return SourceError("is a folder", place=Place(path), fix="pass a file in this folder")
    reason = error.strerror or str(error)
    is_protected = isinstance(error, PermissionError)
    fix = "make the file readable by your user" if is_protected else "use another file"
    if os.path.islink(path) and not os.path.exists(path):
        reason, fix = "its target doesn't exist", "remove the link, or create its target"
    return SourceError(f"can't be read: {reason}", place=Place(path), fix=fix)


def missing_path_error(path: str) -> SourceError:
    """Return the error for a path that doesn't exist, with similar names in its folder."""
    if _URL.match(path):
        return SourceError(
            "is a URL, but pulumi-dra doesn't download files",
            place=Place(path),
            fix=f"download the file first: `curl -L {path} | pulumi-dra plan -`",
        )
    missing, parent = path, os.path.dirname(path) or "."
    while not os.path.isdir(parent):
        missing, parent = parent, os.path.dirname(parent) or "."
    return SourceError(
        "doesn't exist", place=Place(path), fix=_suggest(os.path.basename(missing), parent)
    )


def _suggest(name: str, parent: str) -> str:
    try:
        siblings = sorted(entry for entry in os.listdir(parent) if not entry.startswith("."))
    except OSError:
        siblings = []
    near = difflib.get_close_matches(name, siblings, n=3, cutoff=0.5)
    where = "this folder" if parent == "." else parent
    if near:
        return f"did you mean {either(os.path.join(parent, each) if parent != '.' else each for each in near)}?"
    more = f", and {len(siblings) - _LISTED} more" if len(siblings) > _LISTED else ""
    listed = ", ".join(siblings[:_LISTED])
    return (
        f"correct the path ({where} contains only {listed}{more})"
        if siblings
        else f"correct the path ({where} is empty)"
    )

"""Selection of the manifests among the given files, and notes about the other files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dra_command.inputs.kustomizations import NOT_BUILT
from dra_command.inputs.rendering import helm_template
from dra_command.inputs.skipped_files import (
    CHART_PART,
    KUBEADM_PATCH,
    KUBECONFIG,
    KUSTOMIZATION_PART,
    SPARK_TEMPLATE,
    TEMPLATE,
    SkippedFile,
    build_fix,
    kustomization_changes,
    missing_object_reason,
    skip_reason,
)
from dra_planner.errors import Diagnostic, Place, SourceError
from dra_planner.manifests.workloads.unread_objects import find_device_words
from dra_planner.sources import MissingManifests, Source, begins_object, has_embedded, is_terraform
from dra_planner.wording import counted, verb

LEFT_ALONE = "file-not-judged"
MOST_NAMES = 3  # number of files that one sentence names
_UNFINISHED: Final = {
    CHART_PART: ("Chart", "it isn't rendered"),
    TEMPLATE: ("Template", "its placeholders aren't filled in"),
}
_UNFINISHED_NAMED: Final = (
    TEMPLATE,
    KUSTOMIZATION_PART,
    SPARK_TEMPLATE,
    KUBEADM_PATCH,
    KUBECONFIG,
)


def mark_skipped_files(
    sources: Sequence[Source], named: Collection[str], command: str
) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """Return the sources, and a note for `pulumi-dra COMMAND` on each kind of file that isn't a
    manifest.

    The sources of these files are marked. Files that the user named count as manifests, unless they
    are templates or parts of kustomizations. Raises SourceError if no source is a manifest.
    """
    given = [each for each in sources if each.name in named and each.absent is None]
    unfinished = [each for each in split_manifests(given)[1] if each.what in _UNFINISHED_NAMED]
    named = {each.name for each in given} - {each.file for each in unfinished}
    kept, found = split_manifests(each for each in sources if each.name not in named)
    found += [
        reason
        for source in kept
        if source.absent is None
        and not begins_object(source.text)
        and (reason := missing_object_reason(source)) is not None
    ]
    kept = [source for source in kept if source.name not in {each.file for each in found}]
    left = [
        replace(each, fix=each.fix.replace("pulumi-dra check", f"pulumi-dra {command}"))
        for each in found
    ]
    if left and not kept and not named:
        raise no_manifests_error(left, [], command)
    alone = {source.name for source in sources} - {source.name for source in kept} - named
    marked = tuple(
        replace(source, left_alone=True) if source.name in alone else source for source in sources
    )
    return (*marked, *absent_files(left, sources)), tuple(skipped_file_notes(left))


def absent_files(left: Iterable[SkippedFile], sources: Iterable[Source]) -> Iterator[Source]:
    """Yield a source without text for each skipped chart or template that requests devices."""
    texts = {source.name: source.text for source in sources}
    seen: set[str] = set()
    for each in left:
        name = each.root or each.file
        word = find_device_words(texts.get(each.file, ""))
        if each.what not in _UNFINISHED or name in seen or not word:
            continue
        seen.add(name)
        title, reason = _UNFINISHED[each.what]
        instead = each.fix.replace("pulumi-dra check", "pulumi-dra plan")
        absent = MissingManifests(
            title=f"{title} {name}",
            reason=f'{reason}, and it contains "{word}"',
            instead=instead,
            missing="its pods",
        )
        yield Source(name, "", absent=absent)


def split_manifests(sources: Iterable[Source]) -> tuple[list[Source], list[SkippedFile]]:
    """Return the manifests, and the reason why each other file isn't a manifest."""
    kept: list[Source] = []
    left: list[SkippedFile] = []
    for source in sources:
        is_whole = source.absent is not None or has_embedded(source.name)
        found = None if is_whole or is_terraform(source.name) else skip_reason(source)
        if found is None:
            kept.append(source)
        else:
            left.append(found if found.file else replace(found, file=source.name))
    return kept, left


def no_manifests_error(
    left: list[SkippedFile], findings: list[Diagnostic], command: str = "check"
) -> SourceError:
    """Return the error of `pulumi-dra COMMAND` for files that don't include any manifest."""
    if findings:
        first = findings[0]
        return SourceError(first.message, place=first.place, fix=first.fix)
    left = [
        replace(each, fix=each.fix.replace("pulumi-dra check", f"pulumi-dra {command}"))
        for each in left
    ]
    first_left = left[0]
    what = f"{first_left.what} {first_left.root}".rstrip()
    problem, place = "doesn't contain a manifest", Place(first_left.file)
    fix = first_left.fix or "pass a file or folder with Kubernetes manifests"
    if first_left.what == CHART_PART:
        problem, place = "is a Helm chart", Place(first_left.root)
        if helm_template() is None:
            problem += ", and helm isn't on PATH"
            fix = (
                "install helm, build it with `pulumi-dra sandbox tools --helm`, or "
                f"{fix.replace('run ', 'render the chart elsewhere: ', 1)}"
            )
    elif first_left.what == TEMPLATE:
        problem = "is a template whose placeholders aren't filled in"
    elif what != "no manifest":
        problem = f"is {what}, and doesn't contain a manifest"
    others = tuple(
        SourceError(f"is {each.what} {each.root}".rstrip(), place=Place(each.file), fix=each.fix)
        for each in left[1:]
        if not each.root or each.root != first_left.root
    )
    return SourceError(problem, place=place, fix=fix, others=others[:MOST_NAMES])


def skipped_file_notes(left: list[SkippedFile]) -> Iterable[Diagnostic]:
    """Yield one note for each chart, each kustomization, and each kind of other files."""
    groups: dict[tuple[str, str], list[SkippedFile]] = {}
    for each in sorted(left):
        groups.setdefault((each.what, each.root), []).append(each)
    for (what, root), files in groups.items():
        names = [each.file for each in files[:MOST_NAMES]]
        more = len(files) - len(names)
        listed = ", ".join(names) + (f" and {more} more" if more else "")
        is_what = f"{what} {root}".rstrip()
        message = (
            f"{counted(len(files), 'file')} {verb(len(files), 'are')} skipped ({is_what}): {listed}"
        )
        yield Diagnostic("note", LEFT_ALONE, message, Place(files[0].file), files[0].fix)


def kustomization_notes(kept: Iterable[Source]) -> Iterable[Diagnostic]:
    """Yield one note for each kustomization whose manifests are checked without its changes."""
    for folder, changes in dict(filter(None, map(kustomization_changes, kept))).items():
        what = ", ".join(changes[:MOST_NAMES])
        message = (
            f"the kustomization in {folder} wasn't built, so its changes ({what}) aren't checked"
        )
        yield Diagnostic("note", NOT_BUILT, message, Place(folder), build_fix(folder))


def absent_note(source: Source) -> Diagnostic:
    """Return a note on manifests that belong to a folder that wasn't rendered."""
    absent = source.absent
    if absent is None:
        raise ValueError(f"{source.name} lacks nothing")
    message = f"{absent.title}: {absent.reason}, so {absent.missing} aren't checked"
    fix = absent.instead.replace("pulumi-dra plan", "pulumi-dra check")
    return Diagnostic("note", NOT_BUILT, message, Place(source.name), fix)

"""Inputs of a subcommand: manifests, and the fleet or cluster to check them against."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.inputs.cluster_snapshot import read_observed
from dra_command.inputs.delivery import Delivered, deliver
from dra_command.inputs.fleets.fleet_files import read_fleet_of, read_remote_fleet
from dra_command.inputs.fleets.shared_catalog import find_shared_catalog
from dra_command.inputs.kustomizations import (
    Built,
    GuardsFile,
    build_kustomizations,
    find_absent_changes,
    find_guards_files,
)
from dra_command.inputs.manifest_filter import mark_skipped_files
from dra_command.inputs.rendering import Rendered, is_about_files, render_paths
from dra_command.inputs.skipped_files import may_be_patch
from dra_command.pens.terminal.page import print_note
from dra_planner.documents.snapshot import SNAPSHOT_KINDS
from dra_planner.errors import SourceError
from dra_planner.fleet import Fleet, read_stack, stack_file, stack_names
from dra_planner.releases import parse_version, preview_note
from dra_planner.sources import (
    KUSTOMIZATION_FILES,
    STDIN_NAME,
    Gathered,
    Source,
    begins_object,
    gather_sources,
    manifests_below,
    may_be_unfinished,
    read_sources,
)

if TYPE_CHECKING:
    from dra_planner.errors import Diagnostic
    from dra_planner.fleet import Fleet

# number of folders, from a file's own folder upward, to search for its chart or kustomization
_NEAR = 5


class CommandInputs(Struct, frozen=True, kw_only=True):
    """Inputs with a `fleet`, an `observed` cluster, or neither. `paths` are the paths that the
    manifests were read from. `unreadable` are files next to them that aren't text, and `left_alone`
    lists the files without manifests. `fleet_file` is the file of the stack or fleet, or "".
    `guards_files` are the guards Components of a stack, which don't take part in rendering.
    """

    sources: tuple[Source, ...]
    paths: tuple[str, ...]
    fleet: Fleet | None = None
    observed: tuple[Source, ...] = ()
    stack: str = ""
    fleet_file: str = ""
    guards_files: tuple[GuardsFile, ...] = ()
    kubernetes: str = ""
    unreadable: tuple[SourceError, ...] = ()
    left_alone: tuple[Diagnostic, ...] = ()


def read_inputs(
    values: argparse.Namespace,
    *,
    needs_capacity: bool,
    needs_manifests: bool = True,
    is_lenient: bool = False,
    kinds: Sequence[str] = SNAPSHOT_KINDS,
) -> CommandInputs:
    """Return the inputs that the options name. Raises PlannerError if an input is missing or
    invalid. `kinds` are the kinds to read from a running cluster. If `is_lenient` is set, files
    that aren't text are listed separately, and some files may be excluded.
    """
    if values.kubernetes:
        parse_version(values.kubernetes)
    if needs_capacity and not (values.fleet or values.stack or values.observed):
        fix = f"use --stack NAME, --fleet FILE, --observed FILE, or --context NAME; {_here()}"
        raise UsageError("a plan needs pools", fix=fix)
    fleet, paths = _read_fleet_and_paths(values, needs_manifests=needs_manifests)
    _print_preview(values, fleet)
    observed = read_observed(values.observed or "", getattr(values, "kubeconfig", ""), kinds)
    if needs_manifests and not paths and not observed:
        stacks = f"; {_here()}" if stack_names() else ""
        raise UsageError(
            "this command needs manifests",
            fix=f"pass a file, a folder, or - for standard input{stacks}",
        )
    renders = needs_manifests and bool(values.paths) and not is_about_files(values)
    rendered = render_paths(values) if needs_manifests and values.paths else Rendered(paths, ())
    paths = rendered.paths
    built = Built()
    if renders and values.command != "migrate":  # this step changes the files of bases
        built = build_kustomizations(paths, getattr(values, "exclude", ()))
    elif values.command == "plan" and needs_manifests:
        has_guards = fleet is not None and fleet.placement != "free"
        built = Built(absent=find_absent_changes(paths, has_guards=has_guards))
    gathered = _gather(paths, built, values, is_lenient=is_lenient)
    manifests = _without(values.fleet, gathered.sources, paths)
    sources = (*manifests, *rendered.sources, *built.sources)
    delivered = deliver(sources) if renders else Delivered(sources)
    if getattr(values, "show_rendered", False):
        _print_rendered((*rendered.sources, *built.sources, *delivered.rendered))
    sources = (*delivered.rest, *delivered.rendered, *built.absent)
    inputs = CommandInputs(
        sources=sources,
        left_alone=(*built.notes, *delivered.notes),
        unreadable=gathered.unreadable,
        paths=paths,
        fleet=fleet,
        observed=observed,
        stack=values.stack or "",
        fleet_file=_fleet_file(values),
        guards_files=_guards_files(values, fleet, paths) if needs_manifests else (),
        kubernetes=values.kubernetes or "",
    )
    return inputs if is_lenient else require_manifests(inputs, values.command)


def require_manifests(inputs: CommandInputs, command: str) -> CommandInputs:
    """Return the inputs with a mark on files that aren't manifests. Raises SourceError if a file
    isn't text, or if no file is a manifest.
    """
    if inputs.unreadable:
        first, *others = inputs.unreadable
        raise SourceError(first.message, place=first.place, fix=first.fix, others=tuple(others))
    sources, left_alone = mark_unrelated_files(inputs.sources, inputs.paths, command)
    return replace(inputs, sources=sources, left_alone=(*left_alone, *inputs.left_alone))


def _guards_files(
    values: argparse.Namespace, fleet: Fleet | None, paths: Sequence[str]
) -> tuple[GuardsFile, ...]:
    """Return the guards Components that contain the guards of the stack's own plan."""
    is_of_stack = values.stack and not values.paths
    has_guards = fleet is not None and fleet.placement != "free"
    return find_guards_files(paths) if is_of_stack and has_guards else ()


def _fleet_file(values: argparse.Namespace) -> str:
    if values.stack:
        return str(stack_file(values.stack))
    is_local = values.fleet and os.path.isfile(values.fleet)
    return str(values.fleet) if is_local else ""


def _read_fleet_and_paths(
    values: argparse.Namespace, *, needs_manifests: bool
) -> tuple[Fleet | None, tuple[str, ...]]:
    """Return the fleet of the stack or file, and the paths of the manifests. If the options don't
    name any paths, the stack does.
    """
    paths = tuple(values.paths) if needs_manifests else ()
    config = getattr(values, "config", "")
    if values.stack:
        catalog = find_shared_catalog(".", config)
        settings = read_stack(values.stack, remote_fleet=read_remote_fleet, catalog=catalog)
        if needs_manifests and not paths:
            paths = settings.workloads
        if needs_manifests and not paths:
            raise UsageError(
                f'the stack "{values.stack}" doesn\'t list workloads',
                fix='pass manifests, or list them under "pulumi-dra:workloads" in the stack',
            )
        return settings.fleet, paths
    if values.fleet:
        quiet = getattr(values, "quiet", False)
        return read_fleet_of(values.fleet, quiet=quiet, config=config), paths
    return None, paths


def _print_preview(values: argparse.Namespace, fleet: Fleet | None) -> None:
    """Print a note on standard error if the Kubernetes version hasn't been released yet."""
    minor = fleet.minor if fleet is not None else 0
    if values.kubernetes:
        minor = parse_version(values.kubernetes)
    note = preview_note(minor)
    if note and not getattr(values, "quiet", False):
        print_note(f"note: {note}")


def _gather(
    paths: tuple[str, ...], built: Built, values: argparse.Namespace, *, is_lenient: bool
) -> Gathered:
    """Return the manifests below the paths that no kustomization uses.

    Raises UsageError if a folder holds only a kustomization that can't be built.
    """
    remaining = tuple(path for path in paths if not built.reads_whole(path))
    if not remaining:
        return Gathered(())
    try:
        if is_lenient:
            gathered = gather_sources(
                remaining,
                exclude=getattr(values, "exclude", ()),
                stdin_name=getattr(values, "stdin_name", STDIN_NAME),
            )
        else:
            gathered = Gathered(read_sources(remaining))
    except SourceError:
        unbuilt = built.unbuilt_error()
        if unbuilt and not any(next(manifests_below(each), "") for each in remaining):
            raise unbuilt from None
        raise
    return Gathered(
        tuple(each for each in gathered.sources if not built.uses(each.name)),
        tuple(each for each in gathered.unreadable if not built.uses(each.place.file)),
    )


def _print_rendered(sources: Iterable[Source]) -> None:
    """Print rendered manifests to standard error, each with its origin."""
    for each in sources:
        print(f"---\n# {each.name}\n{each.text.rstrip()}", file=sys.stderr)


def mark_unrelated_files(
    sources: tuple[Source, ...], paths: Collection[str], command: str
) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """Return the sources, and notes on files that aren't manifests. Such files are marked if they
    are in a folder. Templates are also marked if the user named them.
    """
    named = frozenset(paths)
    found = [source for source in sources if source.name not in named]
    if not (
        any(map(_may_be_no_manifest, found))
        or any(_may_be_part(each) for each in sources if each.name in named)
        or _near_a_chart({Path(source.name).parent for source in sources})
    ):
        return sources, ()
    return mark_skipped_files(
        sources, [source.name for source in sources if source.name in named], command
    )


def print_skipped_files(left_alone: Iterable[Diagnostic], *, quiet: bool) -> None:
    """List files that aren't manifests on standard error, if the answer doesn't contain them."""
    for note in () if quiet else left_alone:
        print_note(f"{note.message}{f'; {note.fix}' if note.fix else ''}")


def _may_be_no_manifest(source: Source) -> bool:
    return not begins_object(source.text) or "kind" not in source.text or _may_be_part(source)


def _may_be_part(source: Source) -> bool:
    """Return whether other files might complete a file, even if it contains an object."""
    return may_be_unfinished(source.text, source.name) or may_be_patch(source.text)


def _near_a_chart(folders: Iterable[Path]) -> bool:
    """Return whether a chart or a kustomization is in one of the folders, or in a folder slightly
    above it.
    """
    near = {above for folder in folders for above in (folder, *folder.parents)[:_NEAR]}
    return any(
        (folder / name).is_file()
        for folder in near
        for name in ("Chart.yaml", *KUSTOMIZATION_FILES)
    )


def _without(
    fleet: str | None, sources: tuple[Source, ...], paths: Sequence[str]
) -> tuple[Source, ...]:
    """Return the manifests without the fleet file, which can be in the same folder as the
    workloads. Raises UsageError if the user names only the fleet file.
    """
    if not fleet:
        return sources
    place = Path(fleet).resolve()
    manifests = tuple(source for source in sources if Path(source.name).resolve() != place)
    if sources and not manifests and all(map(os.path.isfile, paths)):
        raise UsageError(
            f"{fleet} is the fleet file, not a manifest",
            fix="pass the files or folders that contain your manifests",
        )
    return manifests


def _here() -> str:
    """Return the stacks or fleets in the current folder, or how to create one."""
    if names := stack_names():
        return f"this folder has these stacks: {', '.join(names)}"
    patterns = ("fleet*.yaml", "fleet*.yml", "*.fleet.yaml", "*.fleet.yml")
    if files := sorted({str(each) for pattern in patterns for each in Path().glob(pattern)}):
        return f"this folder has these fleets: {', '.join(files)}"
    return "`pulumi-dra init` creates a fleet, and `pulumi-dra check` works without pools"

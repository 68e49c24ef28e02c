"""`pulumi-dra migrate`: rewrite manifests to request claims instead of the resources of device
plugins.
"""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import NEW_FILE_MODE, write_whole
from dra_command.inputs.cluster_snapshot import read_observed
from dra_command.inputs.command_inputs import read_inputs
from dra_command.migrate.cluster import run_cluster
from dra_command.migrate.diff import unified_diff
from dra_command.migrate.json import migrate_json
from dra_command.migrate.kustomizations import (
    find_patch_files,
    find_renaming,
    require_whole_kustomizations,
)
from dra_command.migrate.steps import run_steps
from dra_command.migrate.text import print_migration
from dra_planner.drivers import every_driver
from dra_planner.drivers.nvidia import gpus, mig_profiles
from dra_planner.errors import SourceError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import read_objects
from dra_planner.migration import (
    DeviceSharing,
    Migration,
    PluginFacts,
    Result,
    migrate,
    read_plugin_facts,
)
from dra_planner.migration.claim_references import with_claim_references
from dra_planner.migration.target_cluster import facts_of_fleet, target_of_fleet

_KINDS = ("nodes", "configmaps")


def run(values: argparse.Namespace) -> int:
    """Print the result for each workload and a diff, or change the files.

    Return the exit status, which is 1 if a pod template can't migrate. Raises PlannerError for
    wrong input.
    """
    if values.write and "-" in values.paths:
        raise UsageError(
            "--write can't change standard input", fix="pass files, or use --format diff"
        )
    if values.observed and not (values.paths or values.stack):
        return run_cluster(values, _answers(values))
    require_whole_kustomizations(values.paths)
    inputs = read_inputs(
        argparse.Namespace(**{**vars(values), "observed": "", "kubeconfig": ""}),
        needs_capacity=False,
    )
    facts = _facts(values)
    if inputs.fleet is not None:
        facts = facts_of_fleet(inputs.fleet).joined(facts)
    if values.steps or values.steps_folder:
        return run_steps(values, inputs, facts)
    target = target_of_fleet(inputs.fleet, values.kubernetes or "", frozenset(values.keep))
    patches = find_patch_files(inputs.paths, inputs.sources)
    found = migrate(inputs.sources, target, facts, patches)
    found = with_claim_references(found, find_renaming(inputs.paths, found.files))
    if values.write:
        _write(found)
    if values.format == "json":
        print(migrate_json(found))
    elif values.format == "diff":
        print("".join(unified_diff(each) for each in found.files), end="")
    else:
        print_migration(
            found, target, written=values.write, quiet=values.quiet, verbose=values.verbose
        )
    return Status.BROKEN if found.count(Result.CANNOT) else Status.FITS


def _write(found: Migration) -> None:
    for each in found.files:
        if each.is_changed:
            path = Path(each.source.name)
            mode = path.stat().st_mode & 0o777 if path.exists() else NEW_FILE_MODE
            write_whole(path, each.text, SourceError, mode=mode)


def _facts(values: argparse.Namespace) -> PluginFacts:
    """Return the facts about the source cluster's device plugin from the options and the
    snapshot.
    """
    given = _answers(values)
    if not values.observed:
        return given
    documents, _ = read_documents(read_observed(values.observed, values.kubeconfig, _KINDS))
    return read_plugin_facts(read_objects(documents), given)


def _answers(values: argparse.Namespace) -> PluginFacts:
    """Return the facts about the source cluster's device plugin from the options."""
    shared = dict(_sharing(word) for word in values.shared)
    _check_profile(values.mig_profile)
    return PluginFacts(
        shared=shared,
        partition=values.mig_profile,
        is_known=bool(shared or values.mig_profile or values.observed),
    )


def _check_profile(name: str) -> None:
    """Raise UsageError if no known GPU has the MIG profile."""
    known = {profile.name for model in gpus() for profile in mig_profiles(model.id)}
    if not name or name in known:
        return
    near = get_close_matches(name, sorted(known), 1)
    raise UsageError(
        f'--mig-profile: "{name}" isn\'t a MIG profile of any known GPU',
        fix=f"did you mean {near[0]}?" if near else "see `pulumi-dra catalog mig`",
    )


def _sharing(word: str) -> tuple[str, DeviceSharing]:
    name, _, count = word.partition("=")
    if not name or not count.isdigit() or int(count) < 2:
        raise UsageError(
            f'--shared must be RESOURCE=N, where N is at least 2, not "{word}"',
            fix="use, for example, nvidia.com/gpu=4",
        )
    if "/" not in name:
        known = sorted(
            resource for driver in every_driver() for resource in driver.plugin_resources
        )
        near = " or ".join(f"{each}={count}" for each in known if each.rpartition("/")[2] == name)
        raise UsageError(
            (
                f"--shared: \"{word}\" isn't an extended resource, because its name doesn't have "
                "a domain"
            ),
            fix=f"did you mean {near}?"
            if near
            else (f"use one of these resources: {', '.join(known)}"),
        )
    return name, DeviceSharing("time-slicing", int(count), "--shared")

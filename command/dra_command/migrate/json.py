"""A migration as the published JSON."""

from __future__ import annotations

from dra_command.migrate.contract import (
    MigratedFileRow,
    MigratedObjectRow,
    MigratedTemplateRow,
    MigrateOutput,
)
from dra_command.migrate.diff import unified_diff
from dra_planner.migration import Migration


def migrate_json(found: Migration) -> str:
    """Return results, changes, and diffs as indented JSON."""
    output = MigrateOutput(
        templates=[
            MigratedTemplateRow(
                file=each.place.file,
                line=each.place.line,
                object=each.object,
                pods=each.pods,
                result=each.result.value,
                devices=each.devices,
                reason=each.reason,
                served=dict(each.served),
                notes=list(each.notes),
                alternatives=list(each.alternatives),
            )
            for each in found.templates
        ],
        objects=[
            MigratedObjectRow(
                file=each.place.file,
                line=each.place.line,
                object=each.object,
                what=each.what,
                is_changed=each.is_changed,
            )
            for each in found.changes
        ],
        files=[
            MigratedFileRow(file=each.source.name, diff=unified_diff(each))
            for each in found.files
            if each.is_changed
        ],
        assumptions=list(found.assumptions),
    )
    return output.model_dump_json(indent=2)

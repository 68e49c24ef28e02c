"""Migrate workloads from device plugins to claims.

    facts = read_plugin_facts(objects, answers)       meaning of the plugin's resource names in the
                                                      source cluster
    migrate(sources, target, answers) -> Migration    every migrated file, and a result for every
                                                      pod template
    plan_steps(sources, fleet) -> MigrationSteps      pools, nodes, moves, and cost at each step,
                                                      with its rollback

A migrated file keeps its comments, order, and formatting. A second migration doesn't change it.
"""

from dra_planner.drivers.protocol.device_plugin import ClaimSupport, DeviceSharing, PluginFacts
from dra_planner.migration.device_plugins import read_plugin_facts
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import (
    MigratedFile,
    Migration,
    ObjectChange,
    Result,
    TemplateOutcome,
)
from dra_planner.migration.patch_files import PatchFile
from dra_planner.migration.steps import (
    MigrationStep,
    MigrationSteps,
    StepKind,
    StepPool,
    plan_steps,
    step_files,
)
from dra_planner.migration.target_cluster import Target

__all__ = [
    "ClaimSupport",
    "DeviceSharing",
    "MigratedFile",
    "Migration",
    "MigrationStep",
    "MigrationSteps",
    "ObjectChange",
    "PatchFile",
    "PluginFacts",
    "Result",
    "StepKind",
    "StepPool",
    "Target",
    "TemplateOutcome",
    "migrate",
    "plan_steps",
    "read_plugin_facts",
    "step_files",
]

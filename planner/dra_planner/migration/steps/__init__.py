"""Plan a migration step by step: pools, nodes, workloads, cost, and safety of each step.

plan_steps(sources, fleet) -> MigrationSteps step_files(steps, step) -> the fleet, plan file, and
manifests of one step by name
"""

from dra_planner.migration.steps.files import step_files
from dra_planner.migration.steps.planning import plan_steps
from dra_planner.migration.steps.step import MigrationStep, MigrationSteps, StepKind, StepPool

__all__ = ["MigrationStep", "MigrationSteps", "StepKind", "StepPool", "plan_steps", "step_files"]

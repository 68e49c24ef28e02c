"""Facts that affect which devices pods get and that are easy to overlook. They are notes, because
they aren't errors.
"""

from __future__ import annotations

from dra_planner.plan.blockers.device_facts import find_facts
from dra_planner.plan.blockers.policies.unevaluated import find_unevaluated_policies
from dra_planner.plan.blockers.references import find_idle_budgets, find_missing_objects
from dra_planner.plan.blockers.replica_claims import find_shared_by_workloads
from dra_planner.plan.blockers.topology.unmet_affinity import find_daemons_without_devices
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="worth-knowing",
    description="The manifests contain something that is valid but easy to overlook, for example a "
    "DeviceTaintRule, a reference to a missing object, or an idle device.",
    why="Without this finding, you would notice the effect only after the pods start.",
    fix="If this is intended, do nothing.",
    level="advisory",
    needs="pools",
    check=cluster_check(
        "worth-knowing",
        find_facts,
        find_missing_objects,
        find_unevaluated_policies,
        find_idle_budgets,
        find_shared_by_workloads,
        find_daemons_without_devices,
    ),
)

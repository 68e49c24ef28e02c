"""Fixes that only callers of the planner read: the call that causes each fix, and the result of
following the fix.

`advice` returns the printed fix. `follow` applies the fix, and raises or returns false if the fix
doesn't help.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from allocation_builders import CLASSES, claim, gpus, node, request, shape
from msgspec import Struct
from msgspec.structs import replace
from plan_builders import deployment, fleet, plan_of

from dra_command.portfolio.computation.answer_store import Store
from dra_planner import catalog
from dra_planner.allocation import Placement, Refusal, Undecided, open_node, place, reasons_of
from dra_planner.clouds import cloud
from dra_planner.clouds.aks.gpus import machine_fault
from dra_planner.drivers import driver, nvidia
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, StackSettings, read_fleet, read_settings
from dra_planner.manifests.validation.served_versions import not_served_reason
from dra_planner.model import ClaimSpec
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.plan.judgement.redundancy import survive, what_survives
from dra_planner.plan.judgement.simulated_fleet import SimulatedFleet
from dra_planner.planfile import canonical_text, check_inputs, parse_document
from dra_planner.releases import features_of
from dra_planner.sizing import size_pools
from dra_planner.sources import Source

F34 = features_of(34)
L4 = fleet(("g6.2xlarge", {"max": 4}))
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 30Gi, pods: "58"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {type: {string: gpu}}}]
"""


class InFunction(Struct, frozen=True):
    """`fix` is the text in the code. Both functions get a folder."""

    fix: str
    advice: Callable[[Path], str]
    follow: Callable[[Path], bool]


def raised(call: Callable[[Path], object]) -> Callable[[Path], str]:
    def advice(folder: Path) -> str:
        try:
            call(folder)
        except PlannerError as error:
            return error.fix
        raise AssertionError("nothing was raised")

    return advice


def works(call: Callable[[Path], object]) -> Callable[[Path], bool]:
    """Return a function that makes the recommended call, and returns true if it doesn't raise."""
    return lambda folder: call(folder) is not None


def _answer(
    spec: ClaimSpec, *, gates: tuple[str, ...] = (), budget: int = 100_000
) -> Placement | Refusal | Undecided:
    """Return the answer of a node with eight GPUs to a pod with one claim."""
    here = open_node(node(), (gpus(8),), CLASSES, F34)
    return place(shape(spec, scheduling_gates=gates), here, budget=budget)


def _fix(answer: Placement | Refusal | Undecided) -> str:
    assert not isinstance(answer, Placement)
    return reasons_of(answer)[0].fix


GATED = claim(request())
NO_CLASS, WITH_CLASS = claim(request(device_class="gqu")), claim(request(device_class="gpu"))
MANY = claim(request(count=4))
FEW = claim(request(count=1))


def _on_snapshot(_: Path) -> object:
    request = PlanRequest(
        sources=(deployment(),), observed=(Source("cluster.yaml", NODE),), kubernetes="1.34"
    )
    return plan_file(make_plan(request))


def _sized(*, pools: bool) -> str:
    plan = plan_of(L4, deployment())
    sizing = size_pools(
        plan.judgement.demand, plan.offers if pools else (), plan.judgement.classes, F34
    )
    return next((reason.fix for size in sizing.workloads for reason in size.reasons), "")


def _kept_text(*, broken: bool) -> str:
    text = canonical_text(plan_file(plan_of(L4, deployment())))
    return text[: len(text) // 2] if broken else text


def _stale(where: Fleet) -> bool:
    """Return whether the plan of `L4` is reported as stale for the inputs of another fleet."""
    check_inputs(plan_file(plan_of(L4, deployment())), where, (deployment(),))
    return True


def _locked(folder: Path, mine: str) -> bool:
    """Start two runs at the same time, and let the second run choose its own folder."""
    first, second = Store(folder / "answers"), Store(folder / mine)
    first.begin()
    try:
        second.begin()
    finally:
        first.close()
    second.close()
    return True


LOSING = read_fleet({**L4.document(), "redundancy": {"nodes": 1}})


def _losses(steps: int) -> str:
    """Simulate node failures with this number of steps, for a plan whose counts were completely
    simulated.
    """
    plan = plan_of(L4, deployment(replicas=2))
    found, classes = plan.judgement, plan.judgement.classes
    demands = (found.demand, found.demand)
    nodes = SimulatedFleet.of(LOSING, plan.offers, classes, F34)
    spares, question = what_survives(LOSING, found.sizing, found.simulated, demands, nodes)
    sizing, _ = survive(found.sizing, spares, question, steps)
    return next((each.fix for size in sizing.workloads for each in size.reasons), "")


def _of_file(folder: Path) -> StackSettings:
    """Return the settings of a stack that names a file with its fleet."""
    (folder / "fleet.json").write_text(json.dumps(L4.document()), encoding="utf-8")
    return read_settings({"pulumi-dra:fleet": "fleet.json"}, project=folder)


def _not_served(*, minor: int, has_workload_claims: bool = False) -> str:
    """Return the message about a Workload of Kubernetes 1.35 on another minor version, whose API
    server serves the API only if enabled.
    """
    features = features_of(minor).with_gates(workload_claims=has_workload_claims)
    found = not_served_reason("scheduling.k8s.io/v1alpha1", "Workload", features)
    return found[1] if found is not None else ""


def _without_places(layout: str) -> bool:
    """Partition a GPU whose MIG placements are unknown."""
    unplaced = tuple(
        replace(profile, size=None, starts=()) for profile in nvidia.mig_profiles("a100-sxm4-40gb")
    )
    with patch("dra_planner.drivers.nvidia.mig.mig_profiles", return_value=unplaced):
        nvidia.check_mig_layout(catalog.machine("eks", "p4d.24xlarge"), layout)
    return True


FUNCTIONS = (
    InFunction(
        "use Kubernetes {}, whose API server can serve {}",
        lambda _: _not_served(minor=36, has_workload_claims=True),
        lambda _: _not_served(minor=35, has_workload_claims=True) == "",
    ),
    InFunction(
        "enable {} in the API server, which doesn't serve it by default",
        lambda _: _not_served(minor=35),
        lambda _: _not_served(minor=35, has_workload_claims=True) == "",
    ),
    InFunction(
        "use another size",
        lambda _: machine_fault(
            replace(catalog.machine("aks", "Standard_NC4as_T4_v3"), driver_kind="none")
        ),
        lambda _: machine_fault(catalog.machine("aks", "Standard_NC4as_T4_v3")) == "",
    ),
    InFunction(
        'use region "{}"',
        lambda _: str(cloud("eks").region_fault("us-east-1a")),
        lambda _: cloud("eks").region_fault("us-east-1") is None,
    ),
    InFunction(
        "use one of these drivers: {}",
        raised(lambda _: driver("nvdia")),
        lambda _: driver("nvidia") is nvidia.DRIVER,
    ),
    InFunction(
        "use one of {}",
        raised(lambda _: _without_places("1g.5gb:2,2g.10gb:1")),
        lambda _: _without_places("all-1g.5gb"),
    ),
    InFunction(
        "remove these gates from spec.schedulingGates, so that the scheduler can place the pod",
        lambda _: _fix(_answer(GATED, gates=("example.com/held",))),
        lambda _: isinstance(_answer(GATED), Placement),
    ),
    InFunction(
        "create the DeviceClass, or correct deviceClassName",
        lambda _: _fix(_answer(NO_CLASS)),
        lambda _: isinstance(_answer(WITH_CLASS), Placement),
    ),
    InFunction(
        "request fewer devices per claim, or narrow the selectors",
        lambda _: _fix(_answer(MANY, budget=2)),
        lambda _: isinstance(_answer(FEW, budget=2), Placement),
    ),
    InFunction(
        "plan with a fleet, and save that plan",
        raised(_on_snapshot),
        works(lambda _: _kept_text(broken=False)),
    ),
    InFunction(
        "pass a fleet, or a snapshot of a cluster",
        raised(lambda _: make_plan(PlanRequest(sources=(deployment(),)))),
        works(lambda _: plan_of(L4, deployment())),
    ),
    InFunction(
        "add a pool to the fleet", lambda _: _sized(pools=False), lambda _: _sized(pools=True) == ""
    ),
    InFunction(
        "see `pulumi-dra catalog gpus`",
        raised(lambda _: nvidia.gpu("zzz")),
        works(lambda _: nvidia.gpu(nvidia.gpus()[0].id)),
    ),
    InFunction(
        "create the plan file again: `pulumi-dra plan --stack STACK --write`",
        raised(lambda _: parse_document(_kept_text(broken=True))),
        works(lambda _: parse_document(_kept_text(broken=False))),
    ),
    InFunction(
        "run `pulumi-dra plan --stack STACK --write`",
        raised(lambda _: _stale(fleet(("g6.2xlarge", {"max": 5})))),
        lambda _: _stale(L4),
    ),
    InFunction(
        "wait until that run ends, or use another folder (--results)",
        raised(lambda folder: _locked(folder, "answers")),
        lambda folder: _locked(folder, "others"),
    ),
    InFunction(
        "define the fleet inline",
        raised(lambda _: read_settings({"pulumi-dra:fleet": "fleet.yaml"})),
        works(lambda _: read_settings({"pulumi-dra:fleet": L4.document()})),
    ),
    InFunction(
        "use a file path, or define the fleet inline",
        raised(lambda _: read_settings({"pulumi-dra:fleet": "https://fleets.example/prod.yaml"})),
        lambda folder: _of_file(folder).fleet == L4,
    ),
    InFunction(
        "increase --simulate SECONDS",
        lambda _: _losses(5),
        lambda _: _losses(100_000) == "",
    ),
)

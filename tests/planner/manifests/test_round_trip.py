"""Rendering: the API server accepts rendered objects, and parsing them returns the original value.

The same applies to the demand of a plan document, which contains rendered objects.
"""

# strategies read best in one piece
from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from dra_planner.manifests import (
    parse_claim,
    parse_claim_spec,
    parse_claim_template,
    parse_device_class,
    parse_node,
    parse_pod_template,
    parse_slice,
    read_manifests,
    render_claim,
    render_claim_spec,
    render_device_class,
    render_node,
    render_pod_template,
    render_slice,
)
from dra_planner.manifests.rewriting.document_edits import block_text
from dra_planner.model import (
    AllocatedDevice,
    Blocked,
    CelSelector,
    ClaimAllocation,
    ClaimSpec,
    Container,
    ContainerClaim,
    ContainerPort,
    CounterConsumption,
    CounterSet,
    Demand,
    Device,
    DeviceCapacity,
    DeviceClass,
    DeviceConfiguration,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    ExactDeviceRequest,
    Figures,
    Gang,
    GangPart,
    LabelSelector,
    Member,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectKey,
    ObjectMeta,
    PodAffinityTerm,
    PodResourceClaim,
    PodSpec,
    PodTemplate,
    PreferredNodes,
    PreferredPods,
    Reason,
    RequestPolicy,
    Requirement,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Shape,
    ShapeClaim,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    ValidRange,
    Version,
    WorkloadRef,
)
from dra_planner.plan.saved.document import demand_part, read_demand
from dra_planner.planfile import DemandPart
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of
from dra_planner.sources import Source

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True)
DOMAINS = NAMES.map(lambda name: f"{name}.example")
KEYS = st.builds("{}/{}".format, DOMAINS, NAMES)
VALUES = st.from_regex(r"([a-z0-9]{1,5})?", fullmatch=True)
LABELS = st.dictionaries(KEYS, VALUES, max_size=3)
QUANTITIES = st.builds(
    "{}{}".format, st.integers(1, 500), st.sampled_from(["", "m", "k", "Mi", "Gi"])
).map(Quantity.parse)
TEXTS = st.text("abc =!\"'\n#:-yn1", min_size=1, max_size=12)
NUMBERS = st.integers(0, 2**40)


def tuples(
    of: st.SearchStrategy[Any], size: int = 3, *, unique: Any = None
) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=size, unique_by=unique).map(tuple)


SELECTORS = tuples(st.builds(CelSelector, TEXTS))
TOLERATIONS = st.builds(
    DeviceToleration,
    key=KEYS,
    operator=st.just("Exists"),
    effect=st.sampled_from(["", "NoSchedule", "NoExecute"]),
    toleration_seconds=st.none() | st.integers(0, 99),
) | st.builds(DeviceToleration, key=KEYS, value=VALUES)
EXACT: dict[str, Any] = {
    "device_class_name": DOMAINS,
    "selectors": SELECTORS,
    "admin_access": st.booleans(),
    "tolerations": tuples(TOLERATIONS),
    "capacity": st.dictionaries(NAMES, QUANTITIES, max_size=2),
}


def mode(draw: Any) -> dict[str, Any]:
    return (
        {"allocation_mode": "All"} if draw(st.booleans()) else {"count": draw(st.integers(1, 40))}
    )


@st.composite
def requests(draw: Any, name: str) -> DeviceRequest:
    if draw(st.booleans()):
        fields = {key: draw(value) for key, value in EXACT.items()}
        return DeviceRequest(name=name, exactly=ExactDeviceRequest(**fields, **mode(draw)))
    alternatives = []
    for index in range(draw(st.integers(1, 3))):
        fields = {key: draw(value) for key, value in EXACT.items() if key != "admin_access"}
        alternatives.append(DeviceSubRequest(name=f"a{index}", **fields, **mode(draw)))
    return DeviceRequest(name=name, first_available=tuple(alternatives))


@st.composite
def claim_specs(draw: Any) -> ClaimSpec:
    names = [f"r{index}" for index in range(draw(st.integers(0, 3)))]
    some = st.lists(st.sampled_from(names), unique=True).map(tuple) if names else st.just(())
    return ClaimSpec(
        requests=tuple(draw(requests(name)) for name in names),
        constraints=tuple(
            draw(
                st.lists(
                    st.builds(DeviceConstraint, requests=some, match_attribute=KEYS), max_size=2
                )
            )
            + draw(
                st.lists(
                    st.builds(DeviceConstraint, requests=some, distinct_attribute=KEYS), max_size=1
                )
            )
        ),
        config=tuple(
            draw(
                st.lists(
                    st.builds(
                        DeviceConfiguration,
                        requests=some,
                        driver=DOMAINS,
                        parameters=st.dictionaries(
                            NAMES, TEXTS | st.integers(-9, 9) | st.booleans(), max_size=2
                        ),
                    ),
                    max_size=2,
                )
            )
        ),
    )


METAS = st.builds(
    ObjectMeta,
    name=NAMES,
    namespace=NAMES,
    labels=LABELS,
    annotations=st.dictionaries(KEYS, TEXTS, max_size=2),
)
CLUSTER_METAS = st.builds(ObjectMeta, name=NAMES, labels=LABELS)
REQUIREMENTS = st.builds(
    Requirement,
    KEYS,
    st.sampled_from(["In", "NotIn"]),
    st.lists(VALUES, min_size=1, max_size=2).map(tuple),
) | (st.builds(Requirement, KEYS, st.sampled_from(["Exists", "DoesNotExist"])))
NODE_SELECTORS = st.builds(
    NodeSelector,
    st.lists(st.builds(NodeSelectorTerm, tuples(REQUIREMENTS)), min_size=1, max_size=1).map(tuple),
)
ALLOCATIONS = st.builds(
    ClaimAllocation,
    devices=tuples(
        st.builds(
            AllocatedDevice,
            request=NAMES,
            driver=DOMAINS,
            pool=NAMES,
            device=NAMES,
            admin_access=st.booleans(),
            share_id=VALUES,
            consumed_capacity=st.dictionaries(NAMES, QUANTITIES, max_size=1),
        )
    ),
    node_selector=st.none() | NODE_SELECTORS,
    has_timestamp=st.booleans(),
)


def is_taken(*documents: dict[str, Any]) -> None:
    """An API server with all features accepts every rendered object, even after conversion to YAML
    and back.
    """
    text = "---\n".join(block_text(document) for document in documents)
    features = features_of(36).with_gates(list_attributes=True)
    manifests = read_manifests(
        [Source("m.yaml", text)], features, check_selector=lambda text, features: None
    )
    assert [item for item in manifests.diagnostics if item.severity == "error"] == []


@settings(max_examples=30)
@given(claim_specs())
def test_claim_specs_are_read_as_rendered(spec: ClaimSpec) -> None:
    assert parse_claim_spec(render_claim_spec(spec)) == spec


@settings(max_examples=30)
@given(METAS, claim_specs(), LABELS)
def test_claims_and_templates_are_read_as_rendered(
    meta: ObjectMeta, spec: ClaimSpec, labels: dict[str, str]
) -> None:
    claim = ResourceClaim(meta=meta, spec=spec)
    template = ResourceClaimTemplate(meta=meta, spec=spec, claim_labels=labels)
    assert parse_claim(render_claim(claim)) == claim
    inner = {"metadata": {"labels": labels}, "spec": render_claim(claim)["spec"]}
    document = {**render_claim(claim), "kind": "ResourceClaimTemplate", "spec": inner}
    assert parse_claim_template(document) == template
    is_taken(render_claim(claim), document)


@settings(max_examples=30)
@given(METAS, ALLOCATIONS, tuples(NAMES), VALUES)
def test_allocated_claims_are_read_as_rendered(
    meta: ObjectMeta, allocation: ClaimAllocation, pods: tuple[str, ...], owner: str
) -> None:
    claim = ResourceClaim(
        meta=meta, spec=ClaimSpec(), allocation=allocation, reserved_for=pods, owner_pod=owner
    )
    assert parse_claim(render_claim(claim)) == claim


@settings(max_examples=30)
@given(
    st.builds(
        DeviceClass,
        meta=CLUSTER_METAS,
        selectors=SELECTORS,
        extended_resource_name=st.none() | KEYS,
    )
)
def test_classes_are_read_as_rendered(device_class: DeviceClass) -> None:
    assert parse_device_class(render_device_class(device_class)) == device_class
    is_taken(render_device_class(device_class))


ATTRIBUTES = (
    st.booleans()
    | st.integers(-(2**40), 2**40)
    | VALUES
    | st.builds(Version, st.just("1.2.3-a.1+b"))
)
CAPACITIES = st.builds(DeviceCapacity, QUANTITIES)
SHARED_CAPACITIES = CAPACITIES | st.just(
    DeviceCapacity(
        Quantity.parse("80Gi"),
        RequestPolicy(
            default=Quantity.parse("8Gi"),
            valid_range=ValidRange(minimum=Quantity.parse("4Gi"), maximum=Quantity.parse("64Gi"), step=Quantity.parse("4Gi")),
        ),
    )
) | st.just(
    DeviceCapacity(
        Quantity.parse("40Gi"),
        RequestPolicy(default=Quantity.parse("10Gi"), valid_values=(Quantity.parse("10Gi"), Quantity.parse("20Gi"))),
    )
)  # fmt: skip
COUNTERS = st.dictionaries(NAMES, QUANTITIES, min_size=1, max_size=2)


@st.composite
def slices(draw: Any) -> ResourceSlice:
    common: dict[str, Any] = {
        "name": draw(NAMES),
        "driver": draw(DOMAINS),
        "pool": draw(NAMES),
        "node_name": draw(NAMES),
    }
    if draw(st.booleans()):
        sets = tuple(
            CounterSet(name=name, counters=draw(COUNTERS))
            for name in draw(st.sets(NAMES, min_size=1, max_size=2))
        )
        return ResourceSlice(**common, shared_counters=sets)
    devices = []
    for name in sorted(draw(st.sets(NAMES, max_size=3))):
        multiple = draw(st.booleans())
        devices.append(
            Device(
                name=name,
                attributes=draw(st.dictionaries(KEYS | NAMES, ATTRIBUTES, max_size=3)),
                capacity=draw(
                    st.dictionaries(
                        NAMES, SHARED_CAPACITIES if multiple else CAPACITIES, max_size=2
                    )
                ),
                allow_multiple_allocations=multiple,
                taints=draw(
                    tuples(
                        st.builds(
                            DeviceTaint,
                            key=KEYS,
                            value=VALUES,
                            effect=st.sampled_from(["NoSchedule", "None"]),
                        )
                    )
                ),
                consumes_counters=draw(
                    tuples(
                        st.builds(CounterConsumption, counter_set=NAMES, counters=COUNTERS),
                        2,
                        unique=lambda entry: entry.counter_set,
                    )
                ),
            )
        )
    return ResourceSlice(**common, devices=tuple(devices))


@settings(max_examples=30)
@given(slices())
def test_slices_are_read_as_rendered(resource_slice: ResourceSlice) -> None:
    assert parse_slice(render_slice(resource_slice)) == resource_slice
    is_taken(render_slice(resource_slice))


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "ephemeral-storage", "pods"]),
    NUMBERS,
    max_size=4,
)
LABEL_SELECTORS = st.none() | st.builds(LabelSelector, tuples(REQUIREMENTS))
AFFINITY = st.builds(
    PodAffinityTerm,
    topology_key=KEYS,
    label_selector=LABEL_SELECTORS,
    namespaces=tuples(NAMES),
    namespace_selector=LABEL_SELECTORS,
    match_label_keys=tuples(KEYS),
)
SPREAD = st.builds(
    TopologySpreadConstraint,
    max_skew=st.integers(1, 3),
    topology_key=KEYS,
    when_unsatisfiable=st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
    label_selector=LABEL_SELECTORS,
    min_domains=st.none() | st.integers(1, 3),
    node_affinity_policy=st.sampled_from(["Honor", "Ignore"]),
    node_taints_policy=st.sampled_from(["Honor", "Ignore"]),
    match_label_keys=tuples(KEYS, 2),
)
NODE_TERMS = st.builds(NodeSelectorTerm, tuples(REQUIREMENTS, 2), tuples(REQUIREMENTS, 1))
PREFERRED_PODS = tuples(
    st.builds(PreferredPods, st.integers(1, 100) | st.integers(-100, -1), AFFINITY)
).map(
    # those to be near first
    lambda each: tuple(sorted(each, key=lambda preferred: preferred.weight < 0))
)


@st.composite
def containers(draw: Any) -> Container:
    limits, requests = draw(AMOUNTS), draw(AMOUNTS)
    return Container(
        name=draw(NAMES),
        requests={**limits, **requests},  # a resource with a limit also has a request
        limits=limits,
        claims=draw(tuples(st.builds(ContainerClaim, NAMES, VALUES))),
        ports=draw(
            tuples(
                st.builds(
                    ContainerPort,
                    st.integers(1, 99),
                    st.integers(0, 99),
                    st.sampled_from(["TCP", "UDP"]),
                )
            )
        ),
        always_restarts=draw(st.booleans()),
    )


PODS = st.builds(
    PodTemplate,
    labels=LABELS,
    annotations=LABELS,
    spec=st.builds(
        PodSpec,
        containers=tuples(containers()),
        init_containers=tuples(containers(), 2),
        pod_requests=AMOUNTS,
        overhead=AMOUNTS,
        resource_claims=tuples(st.builds(PodResourceClaim, name=NAMES, resource_claim_name=NAMES)),
        node_name=VALUES,
        node_selector=LABELS,
        node_affinity=st.none() | NODE_SELECTORS,
        pod_affinity=tuples(AFFINITY, 2),
        pod_anti_affinity=tuples(AFFINITY, 2),
        preferred_nodes=tuples(st.builds(PreferredNodes, st.integers(1, 100), NODE_TERMS), 2),
        preferred_pods=PREFERRED_PODS,
        topology_spread=tuples(SPREAD, 2),
        tolerations=tuples(st.builds(Toleration, key=KEYS, value=VALUES, effect=VALUES)),
        priority=st.integers(-9, 2 * 10**9),
        priority_class_name=st.sampled_from(["", "high", "system-node-critical"]),
        preemption_policy=st.sampled_from(["PreemptLowerPriority", "Never"]),
        scheduling_gates=tuples(NAMES),
        scheduler_name=NAMES,
        host_network=st.just(False),
        pod_group=VALUES,
        zonal_volumes=tuples(NAMES),
    ),
)


@settings(max_examples=30)
@given(PODS)
def test_pod_templates_are_read_as_rendered(template: PodTemplate) -> None:
    assert parse_pod_template(render_pod_template(template)) == template


@settings(max_examples=30)
@given(
    st.builds(
        Node,
        meta=CLUSTER_METAS,
        allocatable=AMOUNTS.filter(bool),
        taints=tuples(st.builds(Taint, KEYS, VALUES, st.sampled_from(["NoSchedule", "NoExecute"]))),
        unschedulable=st.booleans(),
    )
)
def test_nodes_are_read_as_rendered(node: Node) -> None:
    assert parse_node(render_node(node)) == node


def test_rendering_omits_defaults() -> None:
    spec = ClaimSpec(
        requests=(
            DeviceRequest(
                name="gpu", exactly=ExactDeviceRequest(device_class_name="gpu.nvidia.com")
            ),
        )
    )
    assert render_claim_spec(spec) == {
        "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}
    }
    pod = PodTemplate(
        spec=PodSpec(containers=(Container(name="m", requests={"cpu": 1500, "memory": 2**31}),))
    )
    assert render_pod_template(pod) == {
        "spec": {
            "containers": [
                {"name": "m", "resources": {"requests": {"cpu": "1500m", "memory": "2Gi"}}}
            ]
        }
    }


REFS = st.builds(
    WorkloadRef, kind=st.sampled_from(["Deployment", "JobSet"]), namespace=NAMES, name=NAMES
)
FIGURES = st.builds(Figures, *[st.integers(0, 9)] * 2, *[st.none() | st.integers(9, 99)] * 2)
MEMBERS = st.builds(Member, workload=REFS, pod_set=VALUES, figures=FIGURES)
SHAPES = st.builds(
    Shape,
    id=NAMES,
    namespace=NAMES,
    labels=LABELS,
    pod=PODS.map(lambda template: template.spec),
    claims=tuples(
        st.builds(
            ShapeClaim,
            name=NAMES,
            spec=claim_specs(),
            shared=st.none() | st.builds(ObjectKey, NAMES, NAMES),
        ),
        2,
    ),
    members=tuples(MEMBERS, unique=lambda member: (member.workload, member.pod_set)).map(
        lambda members: tuple(sorted(members, key=lambda member: (member.workload, member.pod_set)))
    ),
    per_node=st.booleans(),
)
REASONS = st.builds(
    Reason, code=NAMES, message=TEXTS, fix=TEXTS, claim=NAMES, request=NAMES, pool=NAMES
)
BLOCKED = st.builds(
    Blocked,
    member=MEMBERS,
    verdict=st.sampled_from(["does-not-fit", "cannot-tell"]),
    reason=REASONS,
    created=st.booleans(),
    requests_devices=st.booleans(),
    classes=tuples(DOMAINS),
)
GANGS = st.builds(
    Gang,
    name=NAMES,
    parts=tuples(st.builds(GangPart, REFS, VALUES, st.integers(0, 9))),
    least=st.integers(0, 9),
    held_by=st.sampled_from(["", "Kueue", "Volcano"]),
)
SHARED_CLAIMS = tuples(
    st.builds(ResourceClaim, meta=METAS, spec=claim_specs()), 2, unique=lambda claim: claim.meta.key
).map(lambda claims: {claim.meta.key: claim for claim in claims})
DEMANDS = st.builds(
    Demand,
    shapes=tuples(SHAPES, 2),
    shared_claims=SHARED_CLAIMS,
    blocked=tuples(BLOCKED, 2),
    namespaces=st.dictionaries(NAMES, LABELS, max_size=2),
    gangs=tuples(GANGS, 2),
)
NOT_IN_DOCUMENTS = {
    Demand: {
        "assumptions",
        "budgets",
        "quotas",
    },  # the document has its own assumptions; the simulation asks the others
    # for the simulation, or of a snapshot
    ShapeClaim: {"place"},
    Blocked: {"entry"},  # for `explain`, which reads the manifests
    # the details are part of the saved message
    Reason: {
        "alternative",
        "changes",
        "place",
        "intent",
        "is_node_full",
        "needs_another_node",
        "details",
    }
    | {"exceeded", "is_conditional"},
    Member: {"in_order", "spreads", "rollout", "running", "changed", "outdated", "charged", "ahead"}
    | {"leaving", "stuck", "awaited", "place", "new_first"},
}


@settings(max_examples=30)
@given(DEMANDS)
def test_demand_is_unchanged_after_saving_and_reading_a_plan(demand: Demand) -> None:
    text = demand_part(demand, "steady").model_dump_json(by_alias=True)
    back = read_demand(DemandPart.model_validate_json(text))
    assert replace(back, blocked=()) == replace(demand, blocked=())
    assert sorted(back.blocked, key=repr) == sorted(demand.blocked, key=repr)


def test_every_field_of_a_demand_is_saved_or_listed() -> None:
    drawn = {
        Demand: "shapes shared_claims blocked namespaces gangs",
        Shape: "id namespace labels pod claims members per_node",
        ShapeClaim: "name spec shared",
        Member: "workload pod_set figures templates",
        Blocked: "member verdict reason created requests_devices classes",
        Reason: "code message fix claim request pool",
        Gang: "name parts least held_by",
        GangPart: "workload pod_set pods",
    }
    for part, names in drawn.items():
        known = {each.name for each in fields(part)}
        assert known == {*names.split(), *NOT_IN_DOCUMENTS.get(part, ())}, part

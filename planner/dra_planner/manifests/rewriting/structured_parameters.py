"""Convert objects of v1alpha3, v1beta1, and v1beta2 to v1.

The fields are the same, but some have moved. Source:
kubernetes/api:resource/{v1alpha3,v1beta1,v1beta2}/types.go@v0.33.13, and the conversion of the API
server, kubernetes/kubernetes:pkg/apis/resource/v1beta1/conversion.go.
"""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.rewriting import replacement_examples
from dra_planner.manifests.rewriting.document_edits import Entry, Kept, Layout, Lifted, Nested
from dra_planner.manifests.rewriting.old_forms import NotConvertible, Old, section
from dra_planner.manifests.rewriting.spans import Alias, Mapping, Scalar

_FLAT: Final = frozenset(
    {
        "deviceClassName",
        "selectors",
        "allocationMode",
        "count",
        "adminAccess",
        "tolerations",
        "capacity",
    }
)


def convert_claim(old: Old, layout: Layout) -> bool:
    """Move flat requests below `exactly`. Return True if anything changed."""
    return _convert_claim_spec(old, layout, old.node.mapping("spec"))


def convert_template(old: Old, layout: Layout) -> bool:
    """Move flat requests in the claims of a template below `exactly`. Return True if anything
    changed.
    """
    spec = old.node.mapping("spec")
    return _convert_claim_spec(old, layout, spec.mapping("spec") if spec is not None else None)


def convert_class(old: Old, layout: Layout) -> bool:
    """Convert a DeviceClass. Its fields haven't changed since v1alpha3, except for
    `suitableNodes`.
    """
    if "suitableNodes" in section(old.data, "spec"):
        raise NotConvertible(
            "spec.suitableNodes restricted the class to certain nodes, but "
            "resource.k8s.io/v1 doesn't have this field. Without it, the scheduler could allocate "
            "claims for this class on any node with a matching device",
            replacement_examples.NODES_OF_A_CLASS,
        )
    return False


def convert_slice(old: Old, layout: Layout) -> bool:
    """Convert a ResourceSlice: unwrap `basic`, write plain capacities as `{value}`, and remove
    fields with the value for "not set".
    """
    spec = old.node.mapping("spec")
    if spec is None:
        return False
    devices = spec.items("devices")
    if spec.items("sharedCounters") and devices:
        raise NotConvertible(
            "spec has both sharedCounters and devices, but since 1.35, a pool's counter sets must "
            "be in a slice without devices, and the driver must support this",
            replacement_examples.COUNTERS_APART,
        )
    changed = False
    for device in devices:
        basic = device.pair("basic")
        inside = basic.value if basic is not None and isinstance(basic.value, Mapping) else device
        if old.version == "v1alpha3":
            changed |= _wrap_capacities(layout, inside)
        if basic is not None:
            empty = inside is device or not inside.pairs
            rest: list[Entry] = [
                Lifted(pair) if pair is basic else Kept(pair)
                for pair in device.pairs
                if not (pair is basic and empty)
            ]
            layout.reshape(device, rest)
            changed = True
    return _drop_unset(old, layout, spec) or changed


def convert_pod(old: Old, layout: Layout) -> bool:
    """Move the names below `source` in a pod's claims (up to 1.30) into the entries themselves."""
    return _lift_sources(layout, old.node)


def _convert_claim_spec(old: Old, layout: Layout, spec: Mapping | None) -> bool:
    status = section(old.data, "status")
    if spec is not None and spec.pair("controller"):
        raise NotConvertible(
            "spec.controller delegated the allocation to the driver's controller, but in v1, the "
            "scheduler allocates from the driver's ResourceSlices",
            replacement_examples.CONTROLLER,
        )
    if "deallocationRequested" in status or "controller" in section(status, "allocation"):
        raise NotConvertible(
            "the status comes from a driver with a controller, which current Kubernetes versions "
            "don't support; drain the pods, delete the claim, and create it again from its spec",
            replacement_examples.CONTROLLER,
        )
    devices = spec.mapping("devices") if spec is not None else None
    changed = False
    for request in devices.items("requests") if devices is not None else ():
        changed |= _nest(layout, request)
    return changed


def _nest(layout: Layout, request: Mapping) -> bool:
    flat = [pair for pair in request.pairs if pair.key.text in _FLAT]
    if not flat:
        return False
    name = request.get("name")
    label = name.text if isinstance(name, Scalar) else ""
    for form in ("exactly", "firstAvailable"):
        if request.pair(form):
            fields = ", ".join(pair.key.text for pair in flat)
            raise NotConvertible(
                f'request "{label}" has both {form} and {fields}, so it\'s unclear which of the '
                "two applies",
                replacement_examples.ONE_FORM,
            )
    moved = {id(pair) for pair in flat}
    kept: list[Entry] = [Kept(pair) for pair in request.pairs if id(pair) not in moved]
    layout.reshape(request, [*kept, Nested("exactly", flat)])
    return True


def _wrap_capacities(layout: Layout, device: Mapping) -> bool:
    capacity = device.mapping("capacity")
    plain = (
        [pair.value for pair in capacity.pairs if isinstance(pair.value, Scalar)]
        if capacity is not None
        else []
    )
    for value in plain:
        layout.wrap_scalar(value, "value")
    return bool(plain)


def _drop_unset(old: Old, layout: Layout, spec: Mapping) -> bool:
    """Remove `nodeName: ""` and `allNodes: false`, which meant "not set" when these fields couldn't
    be omitted.
    """
    values = section(old.data, "spec")
    unset = [
        key for key in ("nodeName", "allNodes") if key in values and values[key] in ("", False)
    ]
    for key in unset:
        layout.remove(spec, key)
        old.notes.append(f'spec.{key} is removed, because its value means "not set"')
    return bool(unset)


def _lift_sources(layout: Layout, node: object) -> bool:
    changed = False
    for pair in node.pairs if isinstance(node, Mapping) else ():
        if pair.key.text == "resourceClaims" and isinstance(node, Mapping):
            for entry in node.items("resourceClaims"):
                changed |= _lift_source(layout, entry)
        else:
            changed |= _lift_sources(layout, pair.value)
    for item in getattr(node, "items", ()) if not isinstance(node, Mapping) else ():
        changed |= _lift_sources(layout, item)
    return changed


def _lift_source(layout: Layout, entry: Mapping) -> bool:
    source = entry.pair("source")
    if source is None or isinstance(source.value, Scalar | Alias):
        return False
    below = source.value.pairs if isinstance(source.value, Mapping) else []
    twice = [pair.key.text for pair in below if entry.pair(pair.key.text)]
    if twice:
        raise NotConvertible(
            f"a pod's claim sets {twice[0]} both inside and outside source",
            replacement_examples.POD,
        )
    layout.reshape(entry, [Lifted(pair) if pair is source else Kept(pair) for pair in entry.pairs])
    return True

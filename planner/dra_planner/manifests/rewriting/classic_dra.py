"""Convert objects of v1alpha1 and v1alpha2 to v1, and insert the parameters that they refer to.

Source: kubernetes/api:resource/v1alpha2/types.go@v0.30.14.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.drivers import nvidia
from dra_planner.manifests.rendering.claims import plain
from dra_planner.manifests.rewriting import replacement_examples, vendor_parameters
from dra_planner.manifests.rewriting.document_edits import Entry, Kept, Layout, New
from dra_planner.manifests.rewriting.named_resources import rewrite_selector
from dra_planner.manifests.rewriting.old_forms import (
    GROUP,
    NotConvertible,
    Old,
    members,
    refuse_unknown,
    section,
)
from dra_planner.manifests.rewriting.vendor_parameters import NVIDIA, RENAMED_DRIVERS, Wanted

CLASSIC: Final = frozenset({"v1alpha1", "v1alpha2"})
_TOP: Final = frozenset({"apiVersion", "kind", "metadata"})
_CLASS_FIELDS: Final = _TOP | {
    "driverName",
    "parametersRef",
    "suitableNodes",
    "structuredParameters",
}
_CLAIM_FIELDS: Final = frozenset({"resourceClassName", "parametersRef", "allocationMode"})
_OWN_FIELDS: Final = frozenset({"resourceClassName", "parametersRef"})
_CHARTS_CLASSES: Final = frozenset({nvidia.GPU_CLASS, nvidia.MIG_CLASS})
_SHARED: Final = (
    "in v1, up to 256 pods can use the claim at the same time. In classic DRA, only one pod could "
    "use a claim that wasn't shareable; use a ResourceClaimTemplate to give each pod its own claim"
)


class ClassicObjects(Struct):
    """The objects of the given files, and the parameters that were inserted into other objects."""

    # parameters by group, kind, namespace, and name
    objects: dict[tuple[str, str, str, str], Old] = {}
    # ResourceClass → its driver, by the driver's current name
    drivers: dict[str, str] = {}
    # the objects that refer to parameters, by the parameters' ID
    users: dict[int, list[Old]] = {}

    @classmethod
    def of(cls, objects: Iterable[Old]) -> ClassicObjects:
        found = cls()
        for old in objects:
            found.objects[old.group, old.kind, old.namespace, old.name] = old
            if old.kind == "ResourceClass" and old.group == GROUP:
                driver = str(_class_fields(old).get("driverName") or "")
                found.drivers[old.name] = RENAMED_DRIVERS.get(driver, driver)
        return found

    def find(self, reference: Mapping[str, Any], namespace: str, user: Old) -> Old:
        """Return the parameters of a reference, or the parameters that were generated from them."""
        group, kind, name = (str(reference.get(key) or "") for key in ("apiGroup", "kind", "name"))
        group = group.partition("/")[0]  # guides sometimes include the version in the group
        found = self.objects.get((group, kind, namespace, name))
        if found is None:
            # Cluster-scoped parameters of classes are written without a namespace.
            found = self.objects.get((group, kind, "default", name)) or self._generated_from(
                kind, name, namespace
            )
        if found is None:
            what = " ".join(
                filter(None, (kind or "an object", name, f"of {group}" if group else ""))
            )
            raise NotConvertible(
                f"parametersRef refers to {what}, which isn't in these files, so the requested "
                "devices are unknown; add the file that contains these parameters, or rewrite the "
                "claim by hand",
                replacement_examples.CLAIM
                if user.kind != "ResourceClass"
                else replacement_examples.CLASS,
            )
        self.users.setdefault(id(found), []).append(user)
        return found

    def _generated_from(self, kind: str, name: str, namespace: str) -> Old | None:
        for (_, _, where, _), old in self.objects.items():
            origin = section(old.data, "generatedFrom")
            if where == namespace and (origin.get("kind"), origin.get("name")) == (kind, name):
                return old
        return None


def is_parameters(old: Old) -> bool:
    """Return True if an object contains parameters for a claim or class of the classic model."""
    if old.group == GROUP:
        return old.kind in ("ResourceClaimParameters", "ResourceClassParameters")
    return vendor_parameters.is_parameters(old.group, old.kind)


def has_its_fields(old: Old) -> bool:
    """Return True if an object has fields that only the first model had."""
    if old.kind == "ResourceClass":
        return True
    spec = section(old.data, "spec")
    return bool(
        _OWN_FIELDS & set(section(spec, "spec") if old.kind == "ResourceClaimTemplate" else spec)
    )


def _class_fields(old: Old) -> Mapping[str, Any]:
    """Return the fields of a class. They had no `spec` around them, but some guides write one."""
    spec = section(old.data, "spec")
    return (
        {**{key: value for key, value in old.data.items() if key != "spec"}, **spec}
        if spec
        else old.data
    )


def convert_class(old: Old, layout: Layout, library: ClassicObjects) -> bool:
    """Convert a class. It named a driver, so its v1 form selects the driver."""
    data = _class_fields(old)
    reference = section(data, "parametersRef")
    parameters = (
        library.find(reference, str(reference.get("namespace") or "default"), old)
        if reference
        else None
    )
    refuse_unknown(data, _CLASS_FIELDS, str(old))
    if data.get("suitableNodes"):
        raise NotConvertible(
            "suitableNodes restricted the class to certain nodes, but resource.k8s.io/v1 "
            "doesn't have this field. Without it, the scheduler could allocate claims for this "
            "class on any node with a matching device",
            replacement_examples.NODES_OF_A_CLASS,
        )
    written = str(data.get("driverName") or "")
    if not written:
        raise NotConvertible(
            "driverName isn't set, and a DeviceClass without selectors matches every device",
            replacement_examples.CLASS,
        )
    driver = _driver(old, written)
    spec: dict[str, Any] = {"selectors": [_selector(f'device.driver == "{driver}"')]}
    if parameters is not None:
        selectors, config = _class_parameters(old, parameters, written)
        spec["selectors"] += selectors
        if config:
            spec["config"] = config
    if "structuredParameters" in data:
        old.notes.append(
            "structuredParameters is removed, because in v1, every driver publishes its devices as "
            "ResourceSlices"
        )
    if old.name in _CHARTS_CLASSES:
        old.notes.append(
            "the driver's chart also creates a DeviceClass with this name; keep only one of "
            "the two classes"
        )
    gone = [pair for pair in old.node.pairs if pair.key.text not in _TOP]
    entries: list[Entry] = [Kept(pair) for pair in old.node.pairs if pair.key.text in _TOP]
    layout.reshape(old.node, [*entries, New("spec", spec, gone)])
    return True


def convert_claim(old: Old, layout: Layout, library: ClassicObjects) -> bool:
    """Convert a claim, and insert the devices that it requested."""
    refuse_unknown(old.data, _TOP | {"spec", "status"}, str(old))
    spec = _claim_spec(old, section(old.data, "spec"), library)
    if library.drivers.get(str(section(old.data, "spec").get("resourceClassName"))) != NVIDIA:
        old.notes.append(_SHARED)  # NVIDIA's classes were shareable unless they stated otherwise
    if old.data.get("status"):
        old.notes.append("the status is removed, so the scheduler allocates the claim again")
    _replace_spec(old, layout, spec)
    return True


def convert_template(old: Old, layout: Layout, library: ClassicObjects) -> bool:
    """Convert a template, and insert the devices that its claims requested."""
    refuse_unknown(old.data, _TOP | {"spec"}, str(old))
    outer = old.node.mapping("spec")
    pair = outer.pair("spec") if outer is not None else None
    if outer is None or pair is None:
        raise NotConvertible(
            "spec.spec isn't set, so the template doesn't describe its claims",
            replacement_examples.CLAIM,
        )
    spec = _claim_spec(old, section(section(old.data, "spec"), "spec"), library)
    layout.reshape(
        outer, [New("spec", spec, [pair]) if each is pair else Kept(each) for each in outer.pairs]
    )
    return True


def _replace_spec(old: Old, layout: Layout, spec: dict[str, Any]) -> None:
    gone = [pair for pair in old.node.pairs if pair.key.text not in _TOP]
    entries: list[Entry] = [Kept(pair) for pair in old.node.pairs if pair.key.text in _TOP]
    layout.reshape(old.node, [*entries, New("spec", spec, gone)])


def _claim_spec(old: Old, spec: Mapping[str, Any], library: ClassicObjects) -> dict[str, Any]:
    reference = section(spec, "parametersRef")
    parameters = library.find(reference, old.namespace, old) if reference else None
    refuse_unknown(spec, _CLAIM_FIELDS, "the spec")
    device_class = str(spec.get("resourceClassName") or "")
    if not device_class:
        raise NotConvertible("resourceClassName isn't set", replacement_examples.CLAIM)
    match spec.get("allocationMode"):
        case None | "":
            pass
        case "WaitForFirstConsumer":
            old.notes.append(
                "allocationMode is removed, because v1 always allocates claims when a pod is "
                "scheduled"
            )
        case "Immediate":
            raise NotConvertible(
                "allocationMode Immediate allocated the claim before a pod used it, which "
                "Kubernetes 1.31 and later don't support",
                replacement_examples.IMMEDIATE,
            )
        case mode:
            raise NotConvertible(f"allocationMode is {mode!r}", replacement_examples.CLAIM)
    wanted = _wanted(old, parameters, library.drivers.get(device_class, ""))
    old.notes += wanted.notes
    if wanted.device_class and device_class not in library.drivers:
        old.notes.append(f"such devices belong to DeviceClass {wanted.device_class}")
        device_class = wanted.device_class
    names = (
        ["device"]
        if len(wanted.requests) == 1
        else [f"device-{n}" for n in range(len(wanted.requests))]
    )
    requests = [
        {"name": name, "exactly": {"deviceClassName": device_class, **request}}
        for name, request in zip(names, wanted.requests, strict=True)
    ]
    devices: dict[str, Any] = {"requests": requests}
    if wanted.config:
        devices["config"] = [_named(entry, names) for entry in wanted.config]
    return {"devices": devices}


def _named(entry: dict[str, Any], names: list[str]) -> dict[str, Any]:
    of = {"requests": [names[index] for index in entry["of"]]} if "of" in entry else {}
    return {**of, "opaque": entry["opaque"]}


def _wanted(old: Old, parameters: Old | None, class_driver: str) -> Wanted:
    if parameters is None:
        return vendor_parameters.nvidia_default() if class_driver == NVIDIA else Wanted([{}])
    if parameters.kind == "ResourceClaimParameters":
        return _claim_parameters(old, parameters, class_driver)
    return vendor_parameters.wanted_by(parameters)


def _claim_parameters(old: Old, parameters: Old, class_driver: str) -> Wanted:
    """Return the requests of ResourceClaimParameters: one device for every entry in `requests` of
    every driver.
    """
    known = _TOP | {"generatedFrom", "shareable", "driverRequests"}
    refuse_unknown(parameters.data, known, str(parameters))
    wanted = Wanted()
    for driver_requests in members(parameters.data, "driverRequests"):
        refuse_unknown(
            driver_requests,
            frozenset({"driverName", "vendorParameters", "requests"}),
            "driverRequests",
        )
        driver = _driver(old, str(driver_requests.get("driverName") or ""))
        if class_driver and driver != class_driver:
            raise NotConvertible(
                f"{parameters} requests devices of {driver}, but the class belongs to "
                f"{class_driver}",
                replacement_examples.CLAIM,
            )
        begin = len(wanted.requests)
        for request in members(driver_requests, "requests"):
            refuse_unknown(request, frozenset({"vendorParameters", "namedResources"}), "requests")
            selectors = [f'device.driver == "{driver}"']
            expression = section(request, "namedResources").get("selector")
            if expression:
                selectors.append(rewrite_selector(str(expression), driver))
            if request.get("vendorParameters"):
                wanted.config.append(
                    _config(driver, request["vendorParameters"], [len(wanted.requests)])
                )
            wanted.requests.append({"selectors": [_selector(each) for each in selectors]})
        if driver_requests.get("vendorParameters"):
            wanted.config.append(
                _config(
                    driver, driver_requests["vendorParameters"], range(begin, len(wanted.requests))
                )
            )
    return wanted


def _class_parameters(old: Old, parameters: Old, driver: str) -> tuple[list[Any], list[Any]]:
    """Return the selectors and configurations of ResourceClassParameters."""
    if parameters.kind != "ResourceClassParameters":
        old.notes += vendor_parameters.class_notes(parameters)
        return [], []
    refuse_unknown(
        parameters.data, _TOP | {"generatedFrom", "vendorParameters", "filters"}, str(parameters)
    )
    selectors, config = [], []
    for each in members(parameters.data, "filters"):
        refuse_unknown(each, frozenset({"driverName", "namedResources"}), "filters")
        _same_driver(parameters, each, driver)
        expression = section(each, "namedResources").get("selector")
        if expression:
            selectors.append(
                _selector(rewrite_selector(str(expression), RENAMED_DRIVERS.get(driver, driver)))
            )
    for each in members(parameters.data, "vendorParameters"):
        refuse_unknown(each, frozenset({"driverName", "parameters"}), "vendorParameters")
        _same_driver(parameters, each, driver)
        config.append(_config(RENAMED_DRIVERS.get(driver, driver), each.get("parameters")))
    return selectors, config


def _same_driver(parameters: Old, part: Mapping[str, Any], driver: str) -> None:
    if part.get("driverName") != driver:
        raise NotConvertible(
            f"{parameters} configures the driver {part.get('driverName')}, but the class belongs "
            f"to {driver}",
            replacement_examples.CLASS,
        )


def _config(driver: str, parameters: Any, of: Iterable[int] | None = None) -> dict[str, Any]:
    entry: dict[str, Any] = {"opaque": {"driver": driver, "parameters": plain(parameters)}}
    return entry if of is None else {**entry, "of": list(of)}


def _driver(old: Old, name: str) -> str:
    today = RENAMED_DRIVERS.get(name, name)
    if today != name:
        note = f"the driver {name} is now called {today}"
        old.notes += [note] if note not in old.notes else []
    return today


def _selector(expression: str) -> dict[str, Any]:
    return {"cel": {"expression": expression}}

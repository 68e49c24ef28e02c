"""The cause of a selector's error, its sentences, and the fixes that correct it."""

from __future__ import annotations

from typing import Any

import pytest
from allocation_builders import CLASSES, claim, device, node, request, shape, slice_of

from dra_planner.allocation import Placement, Refusal, open_node, place, reasons_of
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.selector_causes import find_cause
from dra_planner.allocation.reasons.suggestions import suggest_edits
from dra_planner.model import CelSelector, DeviceClass, ObjectMeta, ResourceSlice, Shape, Version
from dra_planner.releases import features_of

ENDS_CYCLE = "A CEL error ends the pod's scheduling cycle, even if other devices match"
QUANTITIES = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
OWN = "device.attributes['gpu.nvidia.com']"
MEMORY = "device.capacity['gpu.nvidia.com'].memory"


def l4(name: str = "gpu-0", **more: Any) -> ResourceSlice:
    attributes = {
        "productName": "NVIDIA L4",
        "driverVersion": Version("575.57.8"),
        "resource.kubernetes.io/pcieRoot": "pci0000:00",
        **more,
    }
    return slice_of(device(name, attributes, capacity={"memory": "23034Mi"}))


# kind: selector, clause, sentences that follow
CAUSES: dict[str, tuple[str, str, str]] = {
    "other-kind": (
        "device.capacity['gpu.nvidia.com'].productName.compareTo(quantity('1')) == 0",
        'reads "productName" as a capacity, but gpu.nvidia.com publishes it as an attribute '
        '(CEL error: "no such key: productName")',
        ENDS_CYCLE,
    ),
    "other-kind: attribute": (
        f"{OWN}.memory == 1",
        'reads "memory" as an attribute, but gpu.nvidia.com publishes it as a capacity '
        '(CEL error: "no such key: memory")',
        ENDS_CYCLE,
    ),
    "other-domain": (
        "device.attributes['nvidia.com'].productName == 'NVIDIA L4'",
        'reads the attribute "nvidia.com/productName", but gpu.nvidia.com publishes '
        '"gpu.nvidia.com/productName" (CEL error: "no such key: productName")',
        ENDS_CYCLE,
    ),
    "similar-name": (
        f"{OWN}.product == 'NVIDIA L4'",
        'reads the attribute "product", which gpu.nvidia.com doesn\'t publish '
        '(CEL error: "no such key: product")',
        f'The driver publishes a similar attribute, "productName". {ENDS_CYCLE}',
    ),
    "renamed": (
        f"{OWN}.index == 0",
        'reads the attribute "index", which gpu.nvidia.com doesn\'t publish '
        '(CEL error: "no such key: index")',
        f'Driver version 25.8 removed the attribute "index". {ENDS_CYCLE}',
    ),
    "not-published": (
        f"{OWN}.coolness == 1",
        'reads the attribute "coolness", which gpu.nvidia.com doesn\'t publish '
        '(CEL error: "no such key: coolness")',
        f"{ENDS_CYCLE}. Published attributes: driverVersion, productName, and "
        "resource.kubernetes.io/pcieRoot. Published capacity: memory",
    ),
    "not-published: other driver": (
        "device.attributes['tpu.google.com'].topology == '2x2'",
        'reads the attribute "tpu.google.com/topology", which gpu.nvidia.com doesn\'t publish '
        '(CEL error: "no such key: topology")',
        f"{ENDS_CYCLE}. Published attributes: driverVersion, productName, and "
        "resource.kubernetes.io/pcieRoot. Published capacity: memory",
    ),
    "invalid-literal": (
        f"{OWN}.productName == 'NVIDIA L4' && {MEMORY}.compareTo(quantity('twenty')) >= 0",
        f'fails, because "twenty" isn\'t a valid quantity (CEL error: "{QUANTITIES}")',
        ENDS_CYCLE,
    ),
    "invalid-literal: version": (
        f"{OWN}.driverVersion.compareTo(semver('575.57')) >= 0",
        'fails, because "575.57" isn\'t a valid semantic version '
        '(CEL error: "No Major.Minor.Patch elements found")',
        ENDS_CYCLE,
    ),
    "version-as-text": (
        f"{OWN}.driverVersion >= '575'",
        "compares driverVersion, which is a version, with text or a number: "
        f"`{OWN}.driverVersion >= '575'` (CEL error: \"no such overload\")",
        ENDS_CYCLE,
    ),
    "no-bool": (
        f"{OWN}.productName",
        "doesn't return true or false "
        '(CEL error: "CEL result of type string could not be converted to bool")',
        ENDS_CYCLE,
    ),
    "other": (
        f"{OWN}.productName > 3 || {OWN}.productName.size() > 90",
        f'fails at `{OWN}.productName > 3` (CEL error: "no such overload")',
        ENDS_CYCLE,
    ),
    "other: macro": (
        f"[1, 2].all(i, {OWN}.productName > i)",
        'fails (CEL error: "no such overload")',
        ENDS_CYCLE,
    ),
}


def refusal_of(
    pod: Shape, *slices: ResourceSlice, classes: dict[str, DeviceClass] = CLASSES
) -> Refusal:
    verdict = place(pod, open_node(node(), slices, classes, features_of(36)))
    assert isinstance(verdict, Refusal)
    return verdict


@pytest.mark.parametrize("case", CAUSES)
def test_cause_of_an_error_is_stated(case: str) -> None:
    selector, clause, details = CAUSES[case]
    refusal = refusal_of(shape(claim(request("gpu", selector))), l4())
    assert refusal.error is not None
    assert find_cause(refusal.error, refusal.node.template).kind == case.partition(":")[0]
    (reason,) = reasons_of(refusal)
    assert reason.code == "selector-error"
    assert reason.message == f'selector 0 of request "gpu" {clause}'
    assert reason.details == details
    assert (reason.claim, reason.request) == ("default/c1", "gpu")


def test_name_that_only_other_devices_publish_is_not_called_unpublished() -> None:
    mixed = slice_of(
        device("gpu-0", {"productName": "NVIDIA L4"}), device("mig-0", {"profile": "1g.10gb"})
    )
    (reason,) = reasons_of(
        refusal_of(shape(claim(request("gpu", f"{OWN}.profile == '1g.10gb'"))), mixed)
    )
    assert reason.message == (
        'selector 0 of request "gpu" reads the attribute "profile", which only some devices on the '
        'node publish (CEL error: "no such key: profile")'
    )


def test_guarded_read_is_not_the_cause() -> None:
    """The first read of the same name is inside a condition that prevents the error."""
    guarded = f"(has({OWN}.product) && {OWN}.product == 'a') || {OWN}.productName > 3"
    (reason,) = reasons_of(refusal_of(shape(claim(request("gpu", guarded))), l4()))
    assert f"fails at `{OWN}.productName > 3`" in reason.message


def test_selector_of_a_class_is_named_by_its_class() -> None:
    own = DeviceClass(
        meta=ObjectMeta(name="big"), selectors=(CelSelector(f"{OWN}.product == 'x'"),)
    )
    pod = shape(claim(request("gpu", device_class="big")))
    (reason,) = reasons_of(refusal_of(pod, l4(), classes={**CLASSES, "big": own}))
    assert reason.message.startswith(
        'selector 0 of DeviceClass big reads the attribute "product", '
    )


def test_claim_is_named_if_the_pod_has_several() -> None:
    bad = claim(request("gpu", "true", CAUSES["similar-name"][0]))
    (reason,) = reasons_of(
        refusal_of(shape(claim(request("gpu")), bad), slice_of(*l4().devices, *l4("gpu-1").devices))
    )
    assert reason.message.startswith('selector 1 of request "gpu" of claim "c2" reads ')


def test_device_is_named_only_in_the_error_of_kubernetes() -> None:
    pod = shape(claim(request("gpu", CAUSES["renamed"][0])))
    refusal = place(pod, open_node(node(), [l4()], CLASSES, features_of(37)))
    assert isinstance(refusal, Refusal)
    assert refusal.error is not None
    (reason,) = reasons_of(refusal)
    assert "gpu-0" not in reason.text
    assert refusal.error.message == (
        "claim default/c1: selector #0 on device gpu.nvidia.com/n1/gpu-0: CEL runtime error: "
        "no such key: index"
    )


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (
            CAUSES["other-kind"][0],
            f"to select NVIDIA L4 devices, replace `{CAUSES['other-kind'][0]}` with "
            '`device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"` in request "gpu"',
        ),
        (
            CAUSES["invalid-literal"][0],
            'replace "twenty" with a valid quantity, for example "20Gi", or remove '
            f"`{MEMORY}.compareTo(quantity('twenty')) >= 0` from request \"gpu\"",
        ),
        (
            f"{MEMORY}.compareTo(quantity('20GB')) >= 0",
            "use `quantity('20G')` instead of `quantity('20GB')` in request \"gpu\"",
        ),
    ],
)
def test_suggested_correction_of_an_error_is_sufficient(selector: str, text: str) -> None:
    pod = shape(claim(request("gpu", selector)))
    refusal = refusal_of(pod, l4())
    (edit,) = suggest_edits(refusal)
    assert str(edit) == text
    assert isinstance(place(apply_edits([edit], pod), refusal.node), Placement)


def test_example_quantity_of_the_fix_is_sufficient() -> None:
    selector = CAUSES["invalid-literal"][0].replace("twenty", "20Gi")
    pod = shape(claim(request("gpu", selector)))
    assert isinstance(place(pod, open_node(node(), [l4()], CLASSES, features_of(36))), Placement)

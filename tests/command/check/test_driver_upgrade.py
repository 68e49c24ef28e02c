"""`check --driver-upgrade`: effects of another NVIDIA driver version on these manifests."""

from __future__ import annotations

import pytest
from command_project import Project

MANIFESTS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: by-address}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            selectors:
              - cel:
                  expression: device.attributes["gpu.nvidia.com"].pcieBusID == "0000:01:00.0"
      constraints:
        - matchAttribute: gpu.nvidia.com/pcieBusID
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: large}
spec:
  selectors:
    - cel:
        expression: device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0
---
apiVersion: v1
kind: Pod
metadata: {name: old-style}
spec:
  containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


@pytest.fixture
def upgraded(project: Project) -> Project:
    project.write("manifests/all.yaml", MANIFESTS)
    return project


def found(project: Project, old: str, new: str, *paths: str) -> set[tuple[str, int]]:
    done = project.run("check", *paths, "--driver-upgrade", old, new, "--format", "json")
    return {
        (each["severity"], each["line"])
        for each in done.json["diagnostics"]
        if each["severity"] != "note"
    }


def test_renamed_attribute_is_an_error_at_its_selector(upgraded: Project) -> None:
    done = upgraded.run("check", "manifests", "--driver-upgrade", "25.8.1", "25.12.0")
    assert done.status == 1
    text = " ".join(done.out.split())
    assert "manifests/all.yaml:13" in text
    assert (
        "gpu.nvidia.com/pcieBusID is called resource.kubernetes.io/pciBusID in driver version 25.12.0"
        in text
    )
    assert "ResourceClaimTemplate by-address has a constraint on gpu.nvidia.com/pcieBusID" in text
    assert "→ read resource.kubernetes.io/pciBusID" in text
    assert found(upgraded, "25.8.1", "25.12.0", "manifests") >= {("error", 1), ("error", 13)}


def test_gate_that_changes_the_memory_is_a_warning_at_its_selectors(upgraded: Project) -> None:
    assert found(upgraded, "0.4.1", "0.4.1", "manifests") == set()
    assert ("warning", 23) in found(upgraded, "0.4.1", "0.4.1+DynamicMIG", "manifests")


def test_pods_that_a_class_starts_to_serve_are_reported(upgraded: Project) -> None:
    done = upgraded.run("check", "manifests", "--driver-upgrade", "25.8.1", "0.5.0")
    assert "Pod default/old-style requests nvidia.com/gpu" in " ".join(done.out.split())


def test_unread_attribute_is_a_note(project: Project) -> None:
    done = project.run("check", "--driver-upgrade", "25.8.1", "25.12.0", "--format", "json")
    assert (done.status, done.json["verdict"]) == (0, "fits")
    notes = [each["message"] for each in done.json["diagnostics"] if each["severity"] == "note"]
    assert any("pcieBusID is called" in message for message in notes)


def test_equal_versions_have_no_differences(project: Project) -> None:
    done = project.run("check", "--driver-upgrade", "25.8.1", "25.8.1")
    assert (done.status, done.out) == (0, "No differences between 25.8.1 and 25.8.1.\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("25.8.1", "99.1"),
            '"99.1" isn\'t a known version of the NVIDIA DRA driver; use one of these versions',
        ),
        (("25.8.1", "25.8.1+Teleport"), 'doesn\'t have the feature gate "Teleport"'),
        (("25.8.1",), "expected 2 arguments"),
    ],
)
def test_unknown_versions_and_gates_are_rejected(
    words: tuple[str, ...], message: str, project: Project
) -> None:
    done = project.run("check", "--driver-upgrade", *words)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_sharing_strategy_with_a_disabled_gate_is_an_error_at_its_claim(project: Project) -> None:
    project.write(
        "claim.yaml",
        """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: sliced}
spec:
  devices:
    requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]
    config:
    - opaque:
        driver: gpu.nvidia.com
        parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: TimeSlicing}}
""",
    )
    done = project.run("check", "claim.yaml", "--driver-upgrade", "25.3.2", "25.8.1")
    assert done.status == 1
    assert "ResourceClaim sliced is configured with sharing.strategy TimeSlicing" in " ".join(
        done.out.split()
    )
    assert (
        project.run(
            "check", "claim.yaml", "--driver-upgrade", "25.3.2", "25.8.1+TimeSlicingSettings"
        ).status
        == 0
    )


def test_gate_of_the_fleet_that_the_new_version_lacks_is_reported(project: Project) -> None:
    project.stack(
        "version: 25.8.1", "version: 25.12.0\n        featureGates: {TimeSlicingSettings: true}"
    )
    done = project.run("check", "--stack", "dev", "--driver-upgrade", "25.12.0", "25.3.2")
    assert "TimeSlicingSettings feature gate, which 25.3.2 doesn't have" in " ".join(
        done.out.split()
    )
    done = project.run("check", "--stack", "dev", "--driver-upgrade", "25.12.0", "0.4.1")
    assert "TimeSlicing" not in done.out


def test_manifests_replace_the_objects_of_the_cluster(upgraded: Project) -> None:
    upgraded.write("cluster.yaml", MANIFESTS.replace("metadata: {", "metadata: {uid: u-1, "))
    corrected = MANIFESTS.replace("gpu.nvidia.com/pcieBusID", "resource.kubernetes.io/pcieRoot")
    corrected = corrected.replace('["gpu.nvidia.com"].pcieBusID', '["gpu.nvidia.com"].uuid')
    upgraded.write("corrected/all.yaml", corrected)

    errors = found(upgraded, "25.8.1", "25.12.0", "corrected", "--observed", "cluster.yaml")

    assert [each for each in errors if each[0] == "error"] == []

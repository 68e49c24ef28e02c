"""Releases on a control plane: the arguments for Helm, the parts of its output that are kept, and
the error without it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_sandbox.clouds.kubernetes.backend import ApplyFailed
from dra_sandbox.clouds.kubernetes.helm_releases import HelmReleases, ReleaseNote, release_notes
from dra_sandbox.tools.charts import Charts

INPUTS: dict[str, Any] = {
    "name": "driver",
    "namespace": "gpu",
    "chart": "oci://registry.example/charts/gpu-driver",
    "version": "1.0.0",
    "values": {"password": "hidden"},
    "timeout": 60,
}
INSTALLED = {
    "manifest": "kind: DaemonSet\n---\nkind: DeviceClass\n---\nkind: DeviceClass\n---\n",
    "chart": {"metadata": {"appVersion": "v1.0"}},
}
PRINTS_INSTALLED = f"printf '%s' '{json.dumps(INSTALLED)}'"


def releases(folder: Path, does: str) -> HelmReleases:
    """Return releases with a fake Helm that records its arguments and standard input, and then runs
    a script.
    """
    helm = folder / "helm"
    helm.write_text(f'#!/bin/sh\necho "$@" >> {folder}/words\ncat > {folder}/given\n{does}\n')
    helm.chmod(0o755)
    (folder / "charts" / "gpu-driver-1.0.0").mkdir(parents=True, exist_ok=True)
    return HelmReleases(
        folder, folder / "kubeconfig", Charts(helm, folder / "kept", folder / "charts")
    )


def test_a_chart_is_installed_with_its_values_and_awaited(tmp_path: Path) -> None:
    assert releases(tmp_path, PRINTS_INSTALLED).install(INPUTS) == "v1.0"

    words = (tmp_path / "words").read_text()
    assert words.startswith(
        f"upgrade driver {tmp_path}/charts/gpu-driver-1.0.0 --install --namespace gpu --values - "
    )
    assert words.endswith(
        f" --no-hooks --output json --timeout 60s --wait --kubeconfig {tmp_path}/kubeconfig\n"
    )
    assert json.loads((tmp_path / "given").read_text()) == {"password": "hidden"}
    (note,) = release_notes(tmp_path)
    assert note == ReleaseNote(
        "driver", "gpu", "gpu-driver 1.0.0", {"DaemonSet": 1, "DeviceClass": 2}
    )


def test_wait_and_crd_options_are_passed_to_helm(tmp_path: Path) -> None:
    inputs = {**INPUTS, "skipAwait": True, "skipCrds": True, "createNamespace": True}
    releases(tmp_path, PRINTS_INSTALLED).install(inputs)

    words = (tmp_path / "words").read_text()
    assert " --timeout 60s --skip-crds --create-namespace --kubeconfig " in words


def test_errors_from_helm_are_reported_verbatim(tmp_path: Path) -> None:
    refusing = releases(
        tmp_path, "echo 'Error: INSTALLATION FAILED: no matches for kind Gpu' >&2; exit 1"
    )

    with pytest.raises(ApplyFailed, match=r"^INSTALLATION FAILED: no matches for kind Gpu$"):
        refusing.install(INPUTS)
    assert not release_notes(tmp_path)


def test_a_release_with_an_unavailable_chart_is_recorded_with_a_reason(tmp_path: Path) -> None:
    assert (
        releases(tmp_path, "echo 'no such host' >&2; exit 1").install(
            {**INPUTS, "version": "2.0.0"}
        )
        == ""
    )

    (note,) = release_notes(tmp_path)
    assert (note.chart, note.recorded_because) == (
        "gpu-driver 2.0.0",
        "its chart can't be downloaded: no such host",
    )


def test_without_helm_every_release_is_recorded(tmp_path: Path) -> None:
    recorded = HelmReleases(tmp_path, tmp_path / "kubeconfig", None)

    assert recorded.install(INPUTS) == ""

    (note,) = release_notes(tmp_path)
    assert note.recorded_because.startswith(
        "Helm isn't installed; `pulumi-dra sandbox tools --helm` builds it"
    )
    recorded.uninstall(INPUTS)
    assert not release_notes(tmp_path)


def test_a_release_is_uninstalled_only_once(tmp_path: Path) -> None:
    installed = releases(tmp_path, PRINTS_INSTALLED)
    installed.install(INPUTS)

    for _ in range(2):
        installed.uninstall(INPUTS)

    assert (tmp_path / "words").read_text().count(
        "uninstall driver --namespace gpu --no-hooks"
    ) == 1
    assert not release_notes(tmp_path)

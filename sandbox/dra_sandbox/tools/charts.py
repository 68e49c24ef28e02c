"""Find Helm charts in a folder of the user, in their public repository, or in a Go module."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Final

from msgspec import Struct

from dra_sandbox.cache import obtain
from dra_sandbox.tools.go_toolchain import GoUnavailable, find_go, go_environment

_MODULES: Final = {
    "dra-driver-nvidia-gpu": (
        "sigs.k8s.io/dra-driver-nvidia-gpu",
        "deployments/helm/dra-driver-nvidia-gpu",
    ),
    "dra-driver-cpu": (
        "github.com/kubernetes-sigs/dra-driver-cpu",
        "deployment/helm/dra-driver-cpu",
    ),
    "dra-example-driver": (
        "sigs.k8s.io/dra-example-driver",
        "deployments/helm/dra-example-driver",
    ),
    "nvidia-device-plugin": (
        "github.com/NVIDIA/k8s-device-plugin",
        "deployments/helm/nvidia-device-plugin",
    ),
    "kueue": ("sigs.k8s.io/kueue", "charts/kueue"),
    "karpenter": ("github.com/aws/karpenter-provider-aws", "charts/karpenter"),
    "karpenter-crd": ("github.com/aws/karpenter-provider-aws", "charts/karpenter-crd"),
    "aws-dranet": ("github.com/aws/eks-charts", "stable/aws-dranet"),
}
"""Go module that contains each chart under a tag with the chart's version, and the path of the
chart in the module.
"""
_COMMITS: Final = {("aws-dranet", "1.0.0"): "v0.0.243-0.20260821194545-743f98a89b5b"}
"""Version of the Go module that contains a chart version, for modules that don't tag their charts.
"""
_SECONDS: Final = 120
_OLDEST_GO: Final = (1, 24, 0)


class Charts(Struct):
    """Finds charts, and searches for each chart only once.

    `given` is the user's folder, and `kept` is the folder for downloaded charts.
    """

    helm: Path
    kept: Path
    given: Path | None = None
    _found: dict[tuple[str, str], Path | None] = {}
    missing: dict[tuple[str, str], str] = {}

    def find(self, name: str, version: str, reference: str, repository: str) -> Path | None:
        """Return the chart, or None if it can't be found. `missing` then contains the reason."""
        # a program can refer to its own chart by a path
        if not repository and Path(reference).exists():
            return Path(reference)
        key = (name, version)
        if key not in self._found:
            self._found[key] = self._of_folder(name, version) or self._fetch(
                name, version, reference, repository
            )
        return self._found[key]

    def _of_folder(self, name: str, version: str) -> Path | None:
        if self.given is None:
            return None
        for path in (self.given / f"{name}-{version}", self.given / f"{name}-{version}.tgz"):
            if path.exists():
                return path
        return None

    def _fetch(self, name: str, version: str, reference: str, repository: str) -> Path | None:
        source = [name, "--repo", repository] if repository else [reference]
        if version:
            source += ["--version", version]
        try:
            kept = obtain(
                self.kept / f"{name}-{version}", lambda folder: self._pull(source, folder)
            )
            return next(kept.glob("*.tgz"))
        except _NotPulled as problem:
            message = str(problem)
        if name not in _MODULES:
            self.missing[(name, version)] = message
            return None
        module, inside = _MODULES[name]
        tag = _COMMITS.get((name, version), f"v{version}")
        found, reason = _of_module(f"{module}@{tag}", inside)
        if found is None:
            self.missing[(name, version)] = f"{message}; {reason}"
        return found

    def _pull(self, source: list[str], folder: Path) -> None:
        """Download a published chart into a folder. Raises _NotPulled with Helm's message if this
        fails.
        """
        done = _run([str(self.helm), "pull", *source, "--destination", str(folder)], folder)
        if done.returncode or not list(folder.glob("*.tgz")):
            raise _NotPulled((done.stderr.strip() or "Helm didn't fetch a chart").splitlines()[-1])


class _NotPulled(Exception):
    """The repository didn't return the chart."""


def _of_module(module: str, inside: str) -> tuple[Path | None, str]:
    """Return the folder of a chart in a Go module, or None and the reason."""
    try:
        go = find_go(_OLDEST_GO)
    except GoUnavailable as error:
        return None, str(error)
    done = _run([str(go), "mod", "download", "-json", module], Path("/"))
    answer = json.loads(done.stdout or "{}")
    folder = Path(answer.get("Dir", "")) / inside
    if "Dir" in answer and (folder / "Chart.yaml").is_file():
        return folder, ""
    return None, answer.get(
        "Error"
    ) or done.stderr.strip() or "its module doesn't contain this chart"


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = go_environment(os.environ)
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer in {_SECONDS} s")

"""Charts as folders or archives: from a folder of the user's, their public repository, or a Go module that has them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dra_sandbox.tools.go_toolchain import find_go, go_environment

_MODULES: Final = {
    "dra-driver-nvidia-gpu": ("sigs.k8s.io/dra-driver-nvidia-gpu", "deployments/helm/dra-driver-nvidia-gpu"),
    "nvidia-device-plugin": ("github.com/NVIDIA/k8s-device-plugin", "deployments/helm/nvidia-device-plugin"),
    "karpenter": ("github.com/aws/karpenter-provider-aws", "charts/karpenter"),
    "karpenter-crd": ("github.com/aws/karpenter-provider-aws", "charts/karpenter-crd"),
}
"""Chart → the module whose tag is the chart's version, and where the chart lies in it."""
_SECONDS: Final = 120


@dataclass(slots=True)
class Charts:
    """Finds charts, each once; `given` is the user's folder, `kept` where fetched ones are put."""

    helm: Path
    kept: Path
    given: Path | None = None
    _found: dict[tuple[str, str], Path | None] = field(default_factory=dict[tuple[str, str], Path | None])
    missing: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def find(self, name: str, version: str, reference: str, repository: str) -> Path | None:
        """Return the chart, None where it cannot be had; why is then in `missing`."""
        key = (name, version)
        if key not in self._found:
            self._found[key] = self._of_folder(name, version) or self._fetch(name, version, reference, repository)
        return self._found[key]

    def _of_folder(self, name: str, version: str) -> Path | None:
        if self.given is None:
            return None
        for path in (self.given / f"{name}-{version}", self.given / f"{name}-{version}.tgz"):
            if path.exists():
                return path
        return None

    def _fetch(self, name: str, version: str, reference: str, repository: str) -> Path | None:
        said = self._pull(name, version, reference, repository)
        path = self.kept / f"{name}-{version}.tgz"
        if path.exists():
            return path
        if name not in _MODULES:
            self.missing[(name, version)] = said
            return None
        module, inside = _MODULES[name]
        done = _run([str(find_go((1, 24, 0))), "mod", "download", "-json", f"{module}@v{version}"], self.kept)
        answer = json.loads(done.stdout or "{}")
        folder = Path(answer.get("Dir", "")) / inside
        if "Dir" not in answer or not (folder / "Chart.yaml").is_file():
            self.missing[(name, version)] = f"{said}; {answer.get('Error') or 'its module has no such chart'}"
            return None
        return folder

    def _pull(self, name: str, version: str, reference: str, repository: str) -> str:
        """Fetch a published chart; return what Helm says where it cannot."""
        source = [name, "--repo", repository] if repository else [reference]
        command = [str(self.helm), "pull", *source, "--version", version, "--destination", str(self.kept)]
        done = _run(command, self.kept)
        return done.stderr.strip().splitlines()[-1] if done.returncode and done.stderr.strip() else ""


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = go_environment(os.environ)
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no answer in {_SECONDS} s")

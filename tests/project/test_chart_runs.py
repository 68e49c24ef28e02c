"""The run that installs charts: which results count as faults, and which inputs it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.programs

FOLDER = Path(__file__).parents[2] / "conformance" / "charts"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Make the modules of the run importable, isolated from modules with the same names in other
    folders.
    """
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("install", "platforms"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield import_module
    for name in ("install", "platforms"):
        sys.modules.pop(name, None)


KNOWN = {
    "image": {"tag": ""},
    "resources": {"limits": {"cpu": "1"}},
    "extraArgs": {"v": 4},
    "tolerations": [],
    "nodeSelector": {},
    "featureGates": {"A": False},
}
VALUES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "known": ({"image": {"tag": "v1"}, "tolerations": [{"key": "a"}]}, []),
    "below what has no structure": ({"nodeSelector": {"nvidia.com/gpu.dra": "true"}}, []),
    "what containers have": ({"resources": {"requests": {"cpu": "1"}}}, []),
    "flags": ({"extraArgs": {"expander": "least-waste"}}, []),
    "misspelt": ({"toleration": []}, ["toleration"]),
    "misspelt below": (
        {"image": {"tags": "v1"}, "featureGates": {"B": True}},
        ["image.tags", "featureGates.B"],
    ),
}


@pytest.mark.parametrize(("values", "unknown"), VALUES.values(), ids=VALUES)
def test_unknown_chart_values_are_found(modules: Any, values: Any, unknown: list[str]) -> None:
    assert list(modules("install").paths_beyond(values, KNOWN)) == unknown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--charts", "no-such-folder"], "no-such-folder isn't a folder"),
        (["--charts", str(FOLDER / "run.py")], "run.py isn't a folder"),
        (["--only", "elsewhere"], "there is no fleet elsewhere; use one of"),
        (["--minor", "12"], "invalid choice"),
        (["--releases", "9.9.9"], "there is no driver 9.9.9"),
    ],
)
def test_wrong_arguments_stop_the_run(arguments: list[str], message: str) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "run.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2
    assert message in done.stderr

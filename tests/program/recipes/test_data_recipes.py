"""Recipes for hardware, clouds, and drivers: a made-up change in the files that the recipe names
passes its check.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from page import PROJECT
from worktree import Worktree

pytestmark = pytest.mark.recipe

Follow = Callable[[str], Worktree]
DATA = "planner/dra_planner/data"


def add_overlay(tree: Worktree, folder: Path, *, role: str, package: str) -> None:
    """Add the files of a cloud or driver from its own folder: append rows to tables, and copy all
    other files.
    """
    for path in sorted((folder / package).rglob("*")):
        name = f"{role}/{path.relative_to(folder).as_posix()}"
        if path.suffix == ".csv" and (PROJECT / name).exists():
            for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
                tree.add_row(name, **row)
        elif path.suffix in (".csv", ".py"):
            tree.write(name, path.read_text(encoding="utf-8"))


def plan(tree: Worktree, workloads: str, fleet: str) -> dict[str, object]:
    done = tree.run("-m", "dra_command", "plan", workloads, "--fleet", fleet, "--format", "json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_add_a_gpu(follow: Follow) -> None:
    tree = follow("Add a GPU")
    tree.add_row(
        f"{DATA}/gpus.csv",
        id="q1",
        product_name="NVIDIA Q1",
        brand="Nvidia",
        architecture="Blackwell",
        cuda_compute_capability="10.0.0",
        memory_mib="65536",
        virtual="no",
        mig_capable="no",
        compute_domains="no",
        confidence="documented",
        source="made-up-datasheet",
    )
    assert "made-up-datasheet" in tree.check(), "a source without a row"
    tree.add_row(
        f"{DATA}/sources.csv",
        source="made-up-datasheet",
        what="a datasheet",
        ref="1",
        licence="none",
    )
    assert tree.check() == ""
    assert "NVIDIA Q1" in tree.read("docs/catalog.md")


def test_add_a_machine_type(follow: Follow) -> None:
    tree = follow("Add a machine type")
    cells = {
        "family": "g9",
        "arch": "amd64",
        "vcpus": "16",
        "memory_mib": "65536",
        "accelerator_kind": "gpu",
        "accelerator_vendor": "nvidia",
        "accelerator_model": "L4",
        "accelerator_count": "2",
        "gpu": "l4",
        "bare_metal": "no",
        "gke_type": "nvidia-l4",
        "confidence": "high",
        "source": "cyclenerd",
    }
    source = {
        "cloud": "gke",
        "machine": "g9-standard-16",
        "as_of": "2026-08-17",
        "source": "cyclenerd",
    }
    tree.add_row(f"{DATA}/regions.csv", regions="us-central1", **source)
    assert "g9-standard-16" in tree.check(), "a region of a machine type that isn't in the table"
    tree.add_row(f"{DATA}/machines_gke.csv", name="g9-standard-16", **cells)
    tree.add_row(
        f"{DATA}/prices.csv",
        region="us-central1",
        capacity="on-demand",
        usd_per_hour="1.5",
        **source,
    )
    assert tree.check() == ""
    slices = tree.run(
        "-m", "dra_command", "slices", "--machine", "g9-standard-16", "--driver", "25.8.1"
    )
    assert slices.stdout.count("string: NVIDIA L4\n") == 2, slices.stderr


def test_add_a_cloud(follow: Follow) -> None:
    tree = follow("Add a cloud")
    nimbus = PROJECT / "tests" / "clouds" / "nimbus"
    add_overlay(tree, nimbus, role="planner", package="dra_planner")
    add_overlay(tree, nimbus, role="components", package="pulumi_dra")
    assert tree.check() == ""
    answer = plan(tree, "examples/workloads", str(nimbus / "fleet.yaml"))
    assert answer["verdict"] == "fits"
    build = "import pulumi_dra.cloud_components as c; print(c.components_of('nimbus').__name__)"
    assert tree.run("-c", build).stdout == "pulumi_dra.nimbus.from_fleet\n"


def test_add_a_device_driver(follow: Follow) -> None:
    tree = follow("Add a device driver")
    widget = PROJECT / "tests" / "drivers" / "widget"
    add_overlay(tree, widget, role="planner", package="dra_planner")
    assert tree.check() == ""
    answer = plan(tree, str(widget / "workloads.yaml"), str(widget / "fleet.yaml"))
    assert answer["verdict"] == "fits"


def test_add_an_nvidia_driver_version(follow: Follow) -> None:
    tree = follow("Add an NVIDIA driver version")
    table = f"{DATA}/driver_releases.csv"
    newest = tree.read(table).splitlines()[-1]
    assert newest.startswith("0.5.0,0.5,2026-08-20,")
    tree.append(table, newest.replace("0.5.0,0.5,2026-08-20,", "0.6.0,0.6,2026-10-20,") + "\n")
    assert "0.6" in tree.check(), "a generation without the values of its chart"
    tree.replace(
        "components/pulumi_dra/dra/nvidia/chart_keys.py", '"0.4", "0.5")', '"0.4", "0.5", "0.6")'
    )
    assert tree.check() == ""
    assert "0.6.0" in tree.read("docs/catalog.md")

"""Which modules the import of a package may load, tested in a new interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NETWORK = {"socket", "ssl", "http.client", "urllib.request", "requests"}
PULUMI = {
    "pulumi",
    "pulumi_aws",
    "pulumi_gcp",
    "pulumi_azure_native",
    "pulumi_kubernetes",
    "pulumi_policy",
    "grpc",
}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_planner_root_loads_lazily() -> None:
    heavy = {"pydantic", "lark", "yaml", "highspy", "numpy"}
    assert not modules_after("import dra_planner") & (NETWORK | PULUMI | heavy)


def test_planning_loads_no_pulumi_and_no_network() -> None:
    # pydantic reads package metadata through `email`, which imports `socket` but opens no socket.
    assert not modules_after("import dra_planner.plan") & (NETWORK - {"socket"} | PULUMI)


def test_rules_load_no_pulumi() -> None:
    assert not modules_after("import dra_policies.rules") & PULUMI


def test_command_loads_no_pulumi() -> None:
    assert not modules_after("import dra_command.__main__") & PULUMI


def test_components_root_loads_no_sdk() -> None:
    assert not modules_after("import pulumi_dra") & PULUMI


@pytest.mark.parametrize(
    ("cloud", "other"), [("eks", "pulumi_gcp"), ("gke", "pulumi_aws"), ("aks", "pulumi_aws")]
)
def test_cloud_components_do_not_load_other_clouds(cloud: str, other: str) -> None:
    assert other not in modules_after(f"import pulumi_dra.{cloud}")


PRINTING = {"rich"}
RECORDS = {"msgspec", "typing_extensions"}
PLANNING = (
    PRINTING
    | RECORDS
    | {
        "annotated_types",
        "pydantic",
        "pydantic_core",
        "re2",
        "typing_inspection",
        "yaml",
    }
)
CHECKING = PLANNING | {"hcl2", "lark", "markdown_it", "mdurl", "regex"}
UNUSED_AT_START = {"asyncio", "dask", "distributed", "highspy", "numpy", "pyarrow", "unittest"}
LISTS_MODULES = """
import contextlib, io, json, os, sys
from dra_command.__main__ import main
with contextlib.redirect_stdout(io.StringIO()):
    main(sys.argv[1:])
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
installed = {name.partition(".")[0] for name, file in files.items() if f"{os.sep}site-packages{os.sep}" in file}
generated = {
    each
    for module in list(sys.modules.values())
    for each in vars(module).values()
    if isinstance(each, type) and "__dataclass_fields__" in vars(each)
}
print(json.dumps([
    sorted(files), sorted(name for name in installed if not name.startswith("_")), len(generated)
]))
"""


@pytest.mark.parametrize(
    ("words", "packages", "most", "most_generated"),
    [
        ("--help", RECORDS, 139, 0),
        ("plan --help", RECORDS, 142, 0),
        ("catalog gpus", PLANNING, 380, 60),
        ("check examples/workloads", CHECKING, 1_500, 70),
        ("plan examples/workloads --stack eks-dev", PLANNING, 1_400, 70),
    ],
)
def test_command_loads_only_what_it_uses(
    words: str, packages: set[str], most: int, most_generated: int
) -> None:
    # Every module and every generated class costs time at every start: a subcommand loads nothing
    # that only other subcommands or extras need, and only dependencies have dataclasses.
    root = Path(__file__).parents[2]
    code = [sys.executable, "-c", LISTS_MODULES, *words.split()]
    done = subprocess.run(
        code, capture_output=True, text=True, check=True, cwd=root, env={"PATH": os.environ["PATH"]}
    )
    modules, installed, generated = json.loads(done.stdout)
    assert set(installed) <= packages
    assert not {name.partition(".")[0] for name in modules} & UNUSED_AT_START
    assert len(modules) <= most
    assert generated <= most_generated

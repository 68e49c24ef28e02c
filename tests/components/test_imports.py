"""Cost of importing the components: no SDK is loaded before a cloud is used, and only the SDK of
that cloud.
"""

import json
import subprocess
import sys

import pytest

LOADED = "import json, sys; print(json.dumps(sorted(sys.modules)))"
CLOUDS = {"pulumi_aws", "pulumi_gcp", "pulumi_azure_native"}


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import pulumi_dra", {"pulumi", "pulumi_kubernetes", "pydantic", *CLOUDS}),
        ("import pulumi_dra.platform.stack_settings", {"pulumi_kubernetes", *CLOUDS}),
        ("from pulumi_dra import DraPlatform", CLOUDS),
        # A cluster and a pool need no other cloud.
        ("from pulumi_dra import EksCluster, EksGpuPool", {"pulumi_gcp", "pulumi_kubernetes"}),
        # A cluster in an existing network doesn't need compute, whose types take seconds to import.
        (
            "from pulumi_dra import GkeCluster, GkeGpuPool",
            {"pulumi_aws", "pulumi_gcp.compute._inputs"},
        ),
        (
            "from pulumi_dra import AksCluster, AksGpuPool",
            {"pulumi_aws", "pulumi_gcp", "pulumi_azure_native.network.subnet", "pulumi_kubernetes"},
        ),
    ],
)
def test_import_does_not_load_unused_packages(statement: str, absent: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    assert set(json.loads(done.stdout)) & absent == set()


@pytest.mark.parametrize(
    ("sdk", "component", "extra"),
    [
        ("pulumi_aws", "EksCluster", "aws"),
        ("pulumi_gcp", "GkeGpuPool", "gcp"),
        ("pulumi_azure_native", "AksNetwork", "azure"),
        ("pulumi_kubernetes", "DraDriver", "components"),
    ],
)
def test_missing_sdk_error_names_the_extra(sdk: str, component: str, extra: str) -> None:
    hide = (
        "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n, *a: None if n == "
        f"{sdk!r} else f(n, *a)"
    )
    program = f"{hide}\nfrom pulumi_dra import {component}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f'pip install "pulumi-dra[{extra}]"' in done.stderr.splitlines()[-1]

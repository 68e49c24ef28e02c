"""A platform supports everything that a component supports: through an option, through the fleet,
or because the platform sets it.
"""

import re
import sys
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

import pulumi_dra.aks.options as aks_options
import pulumi_dra.eks.options as eks_options
import pulumi_dra.gke.options as gke_options
from pulumi_dra.dra.nvidia.driver_inputs import DraDriverArgs
from pulumi_dra.dra.releases.driver_tolerations import DriverToleration
from pulumi_dra.eks.autoscaler.autoscaler_inputs import EksClusterAutoscalerArgs
from pulumi_dra.eks.karpenter.controller_inputs import EksKarpenterArgs
from pulumi_dra.platform import option_names
from pulumi_dra.platform.planned_pools import POOL_SET_BY_PLATFORM
from pulumi_dra.platform.platform_inputs import AutoscalerOptions
from pulumi_dra.platform.platform_options import DriverOptions

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import platform_options  # noqa: E402  docs is a folder of scripts

CLOUDS = [eks_options, gke_options, aks_options]
AUTOSCALER = {
    "cluster_endpoint": "the cluster's",
    "cluster_name": "the cluster's",
    "kubernetes_version": "the fleet's kubernetes",
    "node_role_arn": "the cluster's",
    "permissions_boundary_arn": "that of the cluster",
    "tags": "the platform's tags",
    "volume_key_arns": "the disk_kms_key of the pools",
}
"""What DraPlatform sets of an autoscaler."""


@pytest.mark.parametrize("inputs", [EksKarpenterArgs, EksClusterAutoscalerArgs])
def test_every_autoscaler_input_is_an_option(inputs: type) -> None:
    assert (
        set(inputs.__annotations__) - AutoscalerOptions.__annotations__.keys() - AUTOSCALER.keys()
        == set()
    )


@pytest.mark.parametrize("of", CLOUDS, ids=lambda of: of.__name__)
def test_platform_inputs_of_a_cloud_exist(of: Any) -> None:
    assert of.CLUSTER_SET.keys() - names_of(of.CLUSTER_INPUTS) == set()
    assert of.POOL_SET.keys() - POOL_SET_BY_PLATFORM.keys() - names_of(of.POOL_INPUTS) == set()
    assert of.DEFAULTS.keys() - names_of(of.CLUSTER_INPUTS) - names_of(of.POOL_INPUTS) == set()


def test_platform_inputs_of_every_pool_exist() -> None:
    assert POOL_SET_BY_PLATFORM.keys() - names_of(*[of.POOL_INPUTS for of in CLOUDS]) == set()


def test_options_match_the_components() -> None:
    """`make docs` updates them."""
    assert (ROOT / platform_options.PAGE).read_text(encoding="utf-8") == platform_options.text()


def test_option_names_match_the_components() -> None:
    """`make docs` updates them."""
    assert (ROOT / option_names.FILE).read_text(encoding="utf-8") == option_names.text()


def names_of(*inputs: tuple[type, ...]) -> set[str]:
    return {name for each in inputs for args in each for name in args.__annotations__}


def test_driver_options_have_the_types_of_the_inputs() -> None:
    """Tolerations of a platform are plain values, because its plan depends on them."""
    inputs, options = DraDriverArgs.__annotations__, DriverOptions.__annotations__
    different = {name for name, hint in options.items() if inputs[name] != hint}
    assert different == {"tolerations"}
    assert options["tolerations"] == NotRequired[list[DriverToleration]]
    assert inputs["tolerations"] == NotRequired[list[pulumi.Input[DriverToleration]]]


AS_CLOUDS_HAVE_IT = {
    "reservation_id",
    "reservation_name",
    "subnet_id",
    "subnet_ids",
    "zone",
    "zones",
    "image",
    "image_id",
}
"""Reservations by id or name, one subnet or zone or several, an image by family or by id."""


@pytest.mark.parametrize("kind", ["CLUSTER_INPUTS", "POOL_INPUTS"])
def test_same_input_has_the_same_name_on_every_cloud(kind: str) -> None:
    """A platform once had both `disk_kms_key` and `disk_kms_key_arn`, and both `service_cidr` and
    `services_cidr`.
    """
    by_meaning: dict[str, set[str]] = {}
    for name in set().union(*(names_of(getattr(of, kind)) for of in CLOUDS)) - AS_CLOUDS_HAVE_IT:
        by_meaning.setdefault(re.sub(r"_(arn|id|name)s?$|s(?=_|$)", "", name), set()).add(name)
    assert [names for names in by_meaning.values() if len(names) > 1] == []


class Shared(TypedDict):
    """Inputs of two components."""

    chart: NotRequired[str]
    """Chart to install."""


class Derived(Shared):
    """A component with these inputs and one more."""

    version: str
    """Version of the chart."""


def test_schema_lacks_descriptions_of_inherited_inputs() -> None:
    """This is why options are repeated: when this test fails, inputs can inherit them from
    classes.
    """
    analyzer = Analyzer("probe")
    assert analyzer.get_docstring(Derived, "version") == "Version of the chart."
    assert analyzer.get_docstring(Derived, "chart") is None

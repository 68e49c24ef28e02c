"""Terraform in files and pages: releases of the driver's chart, and objects of versions that are no
longer served.
"""

from __future__ import annotations

import pytest

from dra_planner.releases import features_of
from dra_tutorials.terraform.findings import terraform_findings

MANIFEST = """\
resource "kubernetes_manifest" "gpu" {
  manifest = {
    "apiVersion" = "resource.k8s.io/v1beta1"
    kind         = "ResourceClaim" # one GPU
    metadata     = { name = "gpu", namespace = var.namespace }
    spec         = { devices = { requests = [{ name = "gpu" }] } }
  }
}
"""
HEREDOC = """\
resource "kubectl_manifest" "gpu" {
  yaml_body = <<-YAML
    kind: ResourceClaim
    metadata: {name: gpu}
    apiVersion: resource.k8s.io/v1alpha3
  YAML
}
"""
ENCODED = """\
resource "kubectl_manifest" "gpu" {
  yaml_body = yamlencode({
    kind       = "ResourceClaim"
    apiVersion = "resource.k8s.io/v1beta1"
  })
}
"""
RELEASE = """\
resource "helm_release" "dra" {
  name       = "dra"
  chart      = "nvidia-dra-driver-gpu"
  version    = "25.8.1"
  namespace  = "dra"
  SETTINGS
}
"""
CASES: dict[str, tuple[str, list[tuple[int, str]]]] = {
    "an object as Terraform writes it": (
        MANIFEST,
        [(1, "terraform-not-judged"), (3, "version-not-served")],
    ),
    "an object as YAML": (HEREDOC, [(1, "terraform-not-judged"), (5, "version-not-served")]),
    "an encoded object": (
        ENCODED,
        [(1, "terraform-not-judged"), (4, "version-not-served")],
    ),
    "an object of a served version": (
        MANIFEST.replace("v1beta1", "v1"),
        [(1, "terraform-not-judged")],
    ),
    "an object of a computed version": (
        MANIFEST.replace('"resource.k8s.io/v1beta1"', "local.version"),
        [(1, "terraform-not-judged")],
    ),
    "another resource": ('resource "aws_instance" "a" {\n  instance_type = "g6.xlarge"\n}\n', []),
    "two resources, the first with omitted lines": (
        'resource "kubernetes_manifest" "a" {\n  ...\n}\n\n' + ENCODED,
        [(1, "terraform-not-judged"), (5, "terraform-not-judged"), (8, "version-not-served")],
    ),
    "values that the chart rejects, as an object": (
        RELEASE.replace(
            "SETTINGS",
            'values = [yamlencode({\n    nvidiaDriverRoot = "/"\n    deviceClasses = 1\n  })]',
        ),
        [(8, "value-does-nothing"), (6, "value-refused")],
    ),
    "values in blocks": (
        RELEASE.replace(
            "SETTINGS", 'set {\n    name  = "resources.gpus.enabled"\n    value = "true"\n  }'
        ),
        [(1, "value-refused")],
    ),
    "values in a list": (
        RELEASE.replace("SETTINGS", 'set = [{ name = "resources.gpus.enabled", value = true }]'),
        [(1, "value-refused")],
    ),
    "values that make the chart complete": (
        RELEASE.replace(
            "SETTINGS", 'set = [{ name = "gpuResourcesEnabledOverride", value = true }]'
        ),
        [],
    ),
    "a release whose version is computed": (
        RELEASE.replace('"25.8.1"', "var.release").replace(
            "SETTINGS", 'set = [{ name = "gpuResourcesEnabledOverride", value = "true" }]'
        ),
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_findings_have_the_lines_of_the_program(case: str) -> None:
    text, expected = CASES[case]
    found = [
        (each.place.line, each.code)
        for each in terraform_findings(text, "main.tf", 1, features_of(36))
    ]
    assert found == expected


def test_lines_of_a_block_count_from_the_page() -> None:
    found = terraform_findings(MANIFEST, "page.md", 41, features_of(36))
    assert [each.place.line for each in found] == [41, 43]


@pytest.mark.parametrize(
    "text",
    ["resource {", '"kubernetes_manifest"', 'resource "helm_release" "x" {', "helm_release = [\n"],
)
def test_invalid_program_has_no_findings_outside_its_lines(text: str) -> None:
    found = list(terraform_findings(text, "main.tf", 1, features_of(36)))
    assert all(each.place.line == 1 for each in found)

"""Texts that lost their indentation or contain typographic characters: they are repaired only if
the types allow a single interpretation.
"""

from __future__ import annotations

import pytest
import yaml

from dra_planner.errors import ManifestError
from dra_planner.manifests.repairing import repair
from dra_planner.manifests.repairing.indentation import indentations
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

FEATURES = features_of(36)
TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: pair
  labels:
    team: ml
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.nvidia.com
          count: 2
          selectors:
          - cel:
              expression: device.driver == 'gpu.nvidia.com'
      - name: nic
        firstAvailable:
        - name: fast
          deviceClassName: nic.example.com
        - name: slow
          deviceClassName: slow.example.com
      constraints:
      - requests: [gpu]
        matchAttribute: resource.kubernetes.io/pcieRoot
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  restartPolicy: Never
  tolerations:
  - key: nvidia.com/gpu
    operator: Exists
  resourceClaims:
  - name: gpu
    resourceClaimTemplateName: pair
  containers:
  - name: main
    image: registry.example/cuda:1
    command:
    - sleep
    - inf
    resources:
      claims:
      - name: gpu
"""


def accepts(text: str) -> bool:
    try:
        manifests = read_checked([Source("x.yaml", text)], FEATURES)
    except ManifestError:
        return False
    codes = {each.code for each in manifests.diagnostics if each.severity == "error"} - {
        "version-not-served"
    }
    return not codes and not any(each.code == "duplicate-key" for each in manifests.diagnostics)


def flat(text: str) -> str:
    return "\n".join(line.lstrip() for line in text.split("\n"))


@pytest.mark.parametrize("text", [TEMPLATE, POD, f"{TEMPLATE}---\n{POD}"])
def test_lost_indentation_is_restored_from_the_schema(text: str) -> None:
    assert accepts(text)
    repaired = repair(flat(text), 36, accepts)
    assert repaired is not None
    assert list(yaml.safe_load_all(repaired.text)) == list(yaml.safe_load_all(text))
    assert repaired.changes == ("indented by the fields of each kind",)


def test_comments_and_empty_lines_are_preserved() -> None:
    repaired = repair(flat(TEMPLATE).replace("spec:\nspec:", "# two\n\nspec:\nspec:"), 36, accepts)
    assert repaired is not None
    assert "# two\n\nspec:\n  spec:\n" in repaired.text


def test_valid_text_needs_no_repair() -> None:
    assert repair(TEMPLATE, 36, accepts) is None


def test_ambiguous_text_is_not_repaired() -> None:
    # A security context can belong to the pod or to its container.
    text = flat("""\
apiVersion: v1
kind: Pod
metadata:
  name: p
spec:
  containers:
  - name: c
    image: registry.example/c:1
    securityContext:
      runAsUser: 1
""")
    assert len([each for each in indentations(text, 36) if accepts(each)]) > 1
    assert repair(text, 36, accepts) is None


def test_text_of_an_unknown_kind_is_not_repaired() -> None:
    assert (
        repair("apiVersion: example.com/v1\nkind: Thing\nmetadata:\nname: a\n", 36, accepts) is None
    )


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("- name: gpu\n        exactly", "\u2013 name: gpu\n        exactly", "plain hyphens"),
        ("      requests:", "\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0requests:", "plain spaces"),
        ("  name: pair", "\tname: pair", "spaces instead of tabs"),
        (
            "device.driver == 'gpu.nvidia.com'",
            "device.driver == \u2018gpu.nvidia.com\u2019",
            "straight quotes",
        ),
        (
            "device.driver == 'gpu.nvidia.com'",
            "device.driver == \u201cgpu.nvidia.com\u201d",
            "straight quotes",
        ),
    ],
)
def test_typographic_characters_are_replaced(old: str, new: str, change: str) -> None:
    assert old in TEMPLATE
    broken = TEMPLATE.replace(old, new)
    repaired = repair(broken, 36, accepts)
    assert repaired is not None
    found = repaired.text.replace(
        """'device.driver == "gpu.nvidia.com"'""", "device.driver == 'gpu.nvidia.com'"
    )
    assert yaml.safe_load(found) == yaml.safe_load(TEMPLATE)
    assert accepts(repaired.text)
    assert repaired.changes == (change,)


def test_dash_separator_becomes_three_hyphens() -> None:
    repaired = repair(f"{TEMPLATE}\u2014\n{POD}", 36, accepts)
    assert repaired is not None
    assert repaired.text == f"{TEMPLATE}---\n{POD}"

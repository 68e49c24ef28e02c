"""`check` on parts of objects that pages and files show without apiVersion and kind."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from textwrap import dedent

import pytest
import yaml
from command_project import Project

from dra_command.findings.tutorial_inputs import fragment_evaluation
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_tutorials.fragments.evaluation import evaluate_fragments, unevaluated_notes

Findings = list[tuple[int, str]]

JUDGED: dict[str, tuple[str, Findings]] = {
    "the form of claims of pods up to 1.30": (
        """\
        resourceClaims:
        - name: gpu
          source:
            resourceClaimTemplateName: x
        """,
        [(3, "unknown-field")],
    ),
    "a class of v1alpha2": ("resourceClassName: gpu.example.com\n", [(1, "unknown-field")]),
    "the flat form of v1beta1 is reported once": (
        """\
        spec:
          devices:
            requests:
            - {name: a, deviceClassName: gpu.nvidia.com, count: -1}
            - {name: b, deviceClassName: gpu.nvidia.com}
        """,
        [(4, "invalid-value"), (4, "older-form")],
    ),
    "a misspelled constraint": (
        "constraints:\n- matchAtribute: gpu.nvidia.com/parentUUID\n",
        [(2, "unknown-field")],
    ),
    "an attribute that the driver does not publish": (
        "- requests: []\n  matchAttribute: gpu.nvidia.com/parentUID\n",
        [(1, "constraint-names-no-attribute")],
    ),
    "a selector that does not compile": (
        """\
        - cel:
            expression: device.attributes["gpu.nvidia.com"].productName = "L4"
        """,
        [(2, "invalid-value")],
    ),
    "a selector above the cost limit": (
        "expression: device.attributes['a.example'].all(a, device.attributes['a.example'].all(b, "
        "device.attributes['a.example'].all(c, device.attributes['a.example'].all(d, a == b && c "
        "== d))))\n",
        [(1, "forbidden-value")],
    ),
    "an invalid toleration operator": (
        "tolerations:\n- {key: nvidia.com/gpu, operator: Exist, effect: NoSchedule}\n",
        [(2, "unsupported-value")],
    ),
    "configuration of the first drivers": (
        "parameters:\n  apiVersion: gpu.nvidia.com/v1alpha1\n  kind: GpuConfig\n",
        [(1, "driver-config-refused")],
    ),
    "an invalid node selector operator": (
        """\
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions: [{key: a, operator: Include, values: [b]}]
        """,
        [(4, "invalid-value")],
    ),
    "labels that aren't strings": (
        "nodeSelector:\n  nvidia.com/gpu.present: true\n",
        [(2, "wrong-type")],
    ),
    "a claim of a container as text, inside a template": (
        """\
        template:
          spec:
            containers:
            - name: c
              resources:
                claims: [gpu]
        """,
        [(6, "wrong-type")],
    ),
    "gates and versions of a cluster": (
        """\
        featureGates:
          DRAControlPlaneController: true
        runtimeConfig:
          "resource.k8s.io/v1alpha2": "true"
        """,
        [(1, "gate-gone"), (3, "version-gone")],
    ),
    "arguments of a component": (
        """\
        apiServer:
          extraArgs:
            runtime-config: resource.k8s.io/v1alpha2=true
        """,
        [(1, "version-gone")],
    ),
}

FINE = {
    "a claim's request": "requests:\n- {name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}\n",
    "a request without its class": "requests:\n- name: gpu\n  exactly:\n    count: 2\n    # …\n",
    "a container's claims": "resources:\n  claims:\n  - name: gpu\n    request: big\n",
    "a constraint on requests outside the fragment": "constraints:\n- {requests: [a, b], matchAttribute: "
    "x.example/y}\n",
    "a configuration of requests outside the fragment": (
        "config:\n- requests: [ts]\n  opaque: {driver: gpu.example.com, parameters: {}}\n"
    ),
    "limits of a quota": "hard:\n  gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 4\n",
    "pods of a Deployment": "spec:\n  template:\n    spec:\n      tolerations: [{key: a, operator: "
    "Exists}]\n",
    "the spec of a template": "spec:\n  spec:\n    devices:\n      requests: [{name: g, exactly: "
    "{count: 2}}]\n",
}

OTHERS = {
    "replicas": "replicas: 3\n",
    "values of a chart": "image: {repository: x}\nnodeSelector: {a: b}\ntolerations: []\nservice: "
    "{port: 1}\n",
    "amounts of a volume": "resources:\n  requests:\n    storage: 10Gi\n",
    "limits of a NodePool": "spec:\n  template:\n    spec:\n      requirements: [{key: a, "
    "operator: Gt}]\n",
    "text": "just words\n",
    "a placeholder": "resources:\n  limits: {google.com/tpu: <COUNT>}\n",
    "a template": "resources:\n  claims: {{ .Values.claims }}\n",
    "an unreadable fragment": "a: b: c\n",
}


def findings_in(text: str, page: str = "") -> tuple[Findings, list[Source]]:
    found, rest = evaluate_fragments(
        [Source("page.md", dedent(text))], fragment_evaluation(features_of(36)), page
    )
    return sorted((each.place.line, each.code) for each in found), rest


@pytest.mark.parametrize("case", JUDGED)
def test_fragment_is_checked_as_part_of_its_object(case: str) -> None:
    text, expected = JUDGED[case]
    assert findings_in(text) == (expected, [])


@pytest.mark.parametrize("case", FINE)
def test_omitted_fields_of_a_fragment_are_not_faults(case: str) -> None:
    assert findings_in(FINE[case]) == ([], [])


@pytest.mark.parametrize("case", OTHERS)
def test_other_yaml_is_returned_unchecked(case: str) -> None:
    found, rest = findings_in(OTHERS[case])
    assert (found, len(rest)) == ([], 1)


def test_lines_around_an_ellipsis_are_checked() -> None:
    assert findings_in("resources:\n  ...\n  claims: [gpu]\n") == ([(3, "wrong-type")], [])


def test_kueue_feature_gates_are_not_checked_as_kubernetes_gates() -> None:
    text = "featureGates:\n  DynamicResourceAllocation: false\n"
    assert findings_in(text)[0] == [(1, "gate-locked")]
    assert findings_in(text, page="# Kueue")[0] == []


def test_one_note_lists_the_lines_of_all_unchecked_fragments() -> None:
    (note,) = unevaluated_notes([40, 7, 7, *range(50, 60)], "page.md")
    assert (note.severity, note.place.line) == ("note", 7)
    assert note.message.startswith(
        "12 pieces of YAML without apiVersion and kind are read but not checked: lines 7, 40,"
    )
    assert note.message.endswith(", …")
    assert list(unevaluated_notes([], "page.md")) == []


PAGE = """\
# Parts

```yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
---
resourceClaims:
- {name: gpu, source: {resourceClaimTemplateName: x}}
```

- ```yaml
  constraints:
  - matchAtribute: gpu.nvidia.com/parentUUID
  ```

```yaml
kind: ResourceClaim
metadata: {name: forgot-the-version}
```

```yaml
values:
  apiVersion: resource.k8s.io/v1
```

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: left-out
  ...
spec: {}
```

```sh
cat > claims.yaml <<EOF
resources: {claims: [gpu]}
EOF
```
"""


def test_fragments_of_a_page_are_checked_with_their_lines(project: Project) -> None:
    project.write("README.md", PAGE)
    done = project.run("check", "README.md", "--format", "json")
    found = {(each["line"], each["code"], each["severity"]) for each in done.json["diagnostics"]}
    assert found == {
        (9, "unknown-field", "error"),
        (14, "unknown-field", "error"),
        (18, "block-not-read", "error"),
        (23, "fragment-not-judged", "note"),
        (28, "object-shown-in-part", "note"),
        (38, "wrong-type", "error"),
    }


def test_file_with_a_fragment_is_checked(project: Project) -> None:
    project.write("part.yaml", "resourceClaims:\n- {name: gpu, source: {resourceClaimName: x}}\n")
    project.write("values.yaml", "tolerations:\n- {key: a, operator: Exists}\n")
    project.write(
        "pod.yaml", "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x}]}\n"
    )
    done = project.run("check", "part.yaml", "--format", "json")
    assert [(each["line"], each["code"]) for each in done.json["diagnostics"]] == [
        (2, "unknown-field"),
        (1, "part-of-object"),
    ]
    assert done.status == 1
    assert "doesn't contain a manifest" in project.run("check", "values.yaml").err
    assert (
        "apiVersion isn't set; set the API version of Pod" in project.run("check", "pod.yaml").err
    )


JUNK: tuple[object, ...] = (None, 3, True, "x", [], {}, [None], [[1]], {"a": None}, {"name": 3})


def test_damaged_fragments_cause_no_internal_error() -> None:
    """Any value in a part leads to a finding or to no finding, but never to an internal error."""
    rng = random.Random(7)
    parts = [
        yaml.safe_load(dedent(text))
        for text in (*(text for text, _ in JUDGED.values()), *FINE.values())
    ]
    for _ in range(200):
        damaged = copy.deepcopy(rng.choice(parts))
        path = rng.choice([path for path in paths_of(damaged) if path])
        around = damaged
        for key in path[:-1]:
            around = around[key]
        around[path[-1]] = copy.deepcopy(rng.choice(JUNK))
        evaluate_fragments(
            [Source("page.md", yaml.safe_dump(damaged))], fragment_evaluation(features_of(36)), ""
        )


def paths_of(node: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    entries = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in entries:
        yield from paths_of(value, (*path, key))

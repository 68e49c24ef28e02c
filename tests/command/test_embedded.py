"""`check` on pages and scripts: manifests in fenced blocks and heredocs, and commands that no longer work."""

from __future__ import annotations

from typing import Any

import pytest
from command_project import Project

PAGE = """\
# How to

Some prose: apiVersion: nothing.

1. In a list:

   ```yaml
   apiVersion: resource.k8s.io/v1
   kind: ResourceClaim
   metadata: {name: a}
   spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: -1}}]}}
   ```

```yaml
replicas: 3   # a fragment: no manifest
```

```bash
$ kubectl apply -f - <<'EOF'
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: b}
spec: {}
EOF
helm install dra nvidia/k8s-dra-driver-gpu \\
  --version 25.8.0
```

```
output that is no manifest: [
```
"""


def findings(project: Project, name: str, text: str) -> list[tuple[int, str]]:
    project.write(name, text)
    found: list[dict[str, Any]] = project.run("check", name, "--format", "json").json["diagnostics"]
    assert {each["file"] for each in found} <= {name}
    return sorted((each["line"], each["code"]) for each in found)


def test_blocks_and_heredocs_of_a_page_are_judged_on_their_lines(project: Project) -> None:
    assert findings(project, "README.md", PAGE) == [
        (11, "invalid-value"),
        (15, "fragment-not-judged"),
        (20, "version-not-served"),
        (25, "chart-never-existed"),
        (25, "value-refused"),  # GPUs without the value that says that no plugin serves the same nodes
        (25, "value-refused"),  # the namespace default
    ]


def test_a_script_is_judged_too(project: Project) -> None:
    manifest = "\tkind: Pod\n\tapiVersion: resource.k8s.io/v1\n\tEND\n"
    script = f"#!/bin/sh\nset -e\ncat <<-END | kubectl apply -f -\n{manifest}"
    assert findings(project, "install.sh", script) == [(4, "version-not-served")]


def test_what_was_typed_typographically_is_repaired(project: Project) -> None:
    project.write("run.sh", "helm install \u201cdra\u201d chart \u2014version 1\n")
    (found,) = project.run("check", "run.sh", "--format", "json").json["diagnostics"]
    assert found["fix"] == 'write: helm install "dra" chart --version 1'


APPLIED = """\
NS=team-b
{command} <<END
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: one}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com}}}}]}}}}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: own}}
END
cat <<END | kubectl create -f -
apiVersion: v1
kind: Pod
metadata: {{name: p, namespace: {namespace}}}
spec:
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: one}}]
  containers: [{{name: c, image: registry.example/c:1, resources: {{claims: [{{name: gpu}}]}}}}]
END
"""


@pytest.mark.parametrize(
    ("command", "namespace"),
    [
        ("kubectl apply -n team-a -f -", "team-a"),
        ("kubectl -nteam-a apply -f -", "team-a"),
        ("kubectl apply --namespace=team-a -f -", "team-a"),
        ("kubectl --namespace team-a create -f -", "team-a"),
        ('kubectl apply \\\n  -n "$NS" \\\n  -f -', "team-b"),
        ("kubectl apply -n ${NS} -f -", "team-b"),
        ("sed -n 1p | kubectl apply -f -", "default"),
        ("kubectl apply -n $UNKNOWN -f -", "default"),
    ],
)
def test_objects_are_in_the_namespace_that_kubectl_is_given(project: Project, command: str, namespace: str) -> None:
    for where in ("team-a", "team-b", "default"):
        project.write("run.sh", APPLIED.format(command=command, namespace=where))
        found = project.run("check", "run.sh", "--stack", "dev", "--format", "json").json["diagnostics"]
        is_found = not any("/one is not among" in each["message"] for each in found)
        assert is_found == (where == namespace), found


def test_an_object_of_another_namespace_is_refused_in_kubectls_words(project: Project) -> None:
    script = "kubectl apply -n a -f - <<END\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: b}\nEND\n"
    project.write("run.sh", script)
    (found,) = project.run("check", "run.sh", "--format", "json").json["diagnostics"]
    assert (found["line"], found["severity"], found["code"]) == (2, "error", "namespace-conflict")
    assert found["message"].endswith(
        'the namespace from the provided object "b" does not match the namespace "a". '
        "You must pass '--namespace=b' to perform this operation."
    )

"""`check` on pages and scripts: manifests in fenced blocks and heredocs, and commands that no longer work."""

from __future__ import annotations

from typing import Any

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


def test_a_page_is_not_rewritten(project: Project) -> None:
    project.write("README.md", PAGE)
    done = project.run("check", "README.md", "--rewrite")
    assert (done.status, done.out) == (2, "")
    assert "README.md is none" in done.err

"""`check --rewrite` on pages and scripts converts their objects to v1, and changes no other
byte.
"""

from __future__ import annotations

import re

import pytest
from command_project import Project

PAGE = """\
# Claims of all eras \t

Trailing blanks stay:   \n
1. In a list:

   ```yaml
   apiVersion: resource.k8s.io/v1beta1   # of 1.32
   kind: ResourceClaimTemplate
   metadata: {name: a}
   spec:
     spec:
       devices:
         requests:
         - name: gpu
           deviceClassName: gpu.example.com   # flat
           count: 2
   ```

> ```yaml
> apiVersion: v1
> kind: Pod
> metadata: {name: p}
> spec:
>   resourceClaims:
>   - name: gpu
>     source:
>       resourceClaimTemplateName: a
>   containers: [{name: c, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
> ```

```yaml
replicas: 3
```

```json
{"apiVersion": "resource.k8s.io/v1beta2", "kind": "ResourceClaim", "metadata": {"name": "j"},
 "spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}
```

```bash
kubectl apply -f - <<'EOF'
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: old}
driverName: gpu.example.com
---
apiVersion: v1
kind: ConfigMap
metadata: {name: untouched}   # stays
EOF
```

Without a fence:

    apiVersion: resource.k8s.io/v1beta2
    kind: ResourceClaim
    metadata: {name: i}   # stays
    spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}

```diff
 apiVersion: resource.k8s.io/v1beta2
 kind: ResourceClaim
+metadata: {name: of-a-diff}
 spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}
```
"""

REWRITTEN = """\
# Claims of all eras \t

Trailing blanks stay:   \n
1. In a list:

   ```yaml
   apiVersion: resource.k8s.io/v1   # of 1.32
   kind: ResourceClaimTemplate
   metadata: {name: a}
   spec:
     spec:
       devices:
         requests:
         - name: gpu
           exactly:
             deviceClassName: gpu.example.com   # flat
             count: 2
   ```

> ```yaml
> apiVersion: v1
> kind: Pod
> metadata: {name: p}
> spec:
>   resourceClaims:
>   - name: gpu
>     resourceClaimTemplateName: a
>   containers: [{name: c, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
> ```

```yaml
replicas: 3
```

```json
{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "j"},
 "spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.example.com"}}]}}}
```

```bash
kubectl apply -f - <<'EOF'
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: old}
spec:
  selectors:
    - cel:
        expression: device.driver == "gpu.example.com"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: untouched}   # stays
EOF
```

Without a fence:

    apiVersion: resource.k8s.io/v1
    kind: ResourceClaim
    metadata: {name: i}   # stays
    spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}

```diff
 apiVersion: resource.k8s.io/v1beta2
 kind: ResourceClaim
+metadata: {name: of-a-diff}
 spec: {devices: {requests: [{name: g, exactly: {deviceClassName: gpu.example.com}}]}}
```
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_objects_of_all_versions_in_one_page_are_rewritten_in_place(
    project: Project, end: str
) -> None:
    path = project.root / "README.md"
    path.write_bytes(PAGE.replace("\n", end).encode())
    done = project.run("check", "--rewrite", "--in-place", "README.md")
    assert path.read_bytes().decode() == REWRITTEN.replace("\n", end)
    assert [int(line) for line in re.findall(r"^README\.md:(\d+):", done.out, re.MULTILINE)] == [
        8,
        21,
        37,
        43,
        56,
    ]
    assert done.status == 0
    again = project.run("check", "--rewrite", "README.md")
    assert (again.status, again.out) == (0, "")


def test_whole_page_is_printed_without_in_place(project: Project) -> None:
    project.write("README.md", PAGE)
    done = project.run("check", "--rewrite", "README.md")
    assert (done.status, done.out) == (0, REWRITTEN)
    assert (project.root / "README.md").read_text("utf-8") == PAGE


def test_rewritten_object_has_the_same_findings_in_a_page_and_a_file(
    project: Project,
) -> None:
    """An object in a fenced block and in a file is rewritten to the same text, with the same
    findings.
    """
    block = PAGE.partition("   ```yaml\n")[2].partition("   ```")[0]
    text = "".join(f"{line[3:]}\n" for line in block.splitlines())
    project.write("page.md", f"   ```yaml\n{block}   ```\n")
    project.write("file.yaml", text)
    for name in ("page.md", "file.yaml"):
        assert project.run("check", "--rewrite", "--in-place", name).status == 0
    page, file = ((project.root / name).read_text("utf-8") for name in ("page.md", "file.yaml"))
    assert [line[3:] for line in page.splitlines()[1:-1]] == file.splitlines()
    answers = [
        project.run("check", name, "--format", "json").json for name in ("page.md", "file.yaml")
    ]
    codes = [
        [(each["code"], each["message"]) for each in answer["diagnostics"]] for answer in answers
    ]
    assert codes[0] == codes[1]
    assert answers[0]["verdict"] == answers[1]["verdict"] == "fits"


SCRIPT = """\
#!/bin/bash
COUNT=2
if true; then
\tkubectl -n "$NS" apply -f - <<-EOF
\t\tapiVersion: resource.k8s.io/v1beta1
\t\tkind: ResourceClaim
\t\tmetadata: {name: ${NAME}-claim, labels: {team: $TEAM}}
\t\tspec:
\t\t  devices:
\t\t    requests:
\t\t    - name: gpu
\t\t      deviceClassName: $CLASS
\tEOF
fi
echo "apiVersion: $x"
"""


def test_shell_variables_are_preserved(project: Project) -> None:
    project.write("run.sh", SCRIPT)
    done = project.run("check", "--rewrite", "--in-place", "run.sh")
    expected = SCRIPT.replace("/v1beta1", "/v1").replace(
        "\t\t      deviceClassName: $CLASS\n",
        "\t\t      exactly:\n\t\t        deviceClassName: $CLASS\n",
    )
    assert (project.root / "run.sh").read_text("utf-8") == expected
    assert done.out.splitlines()[0] == (
        "run.sh:5: ResourceClaim ${NAME}-claim: resource.k8s.io/v1beta1 → resource.k8s.io/v1"
    )


def test_unsupported_objects_are_reported_and_the_rest_is_rewritten(project: Project) -> None:
    claim = PAGE.partition("   ```yaml\n")[2].partition("   ```")[0]
    broken = "```yaml\napiVersion: resource.k8s.io/v1beta1\nkind: [\n```\n"
    part = "```yaml\nresourceClaims:\n- {name: gpu, source: {resourceClaimName: x}}\n```\n"
    number = (
        "```sh\ncat <<EOF\napiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: "
        "{name: c}\n"
        "spec: {devices: {requests: [{name: g, deviceClassName: x, count: $N}]}}\nEOF\n```\n"
    )
    project.write("page.md", f"{broken}\n{part}\n{number}\n   ```yaml\n{claim}   ```\n")
    done = project.run("check", "--rewrite", "page.md")
    assert done.status == 1
    assert "apiVersion: resource.k8s.io/v1   # of 1.32" in done.out
    assert [each in done.out for each in (broken, part, number)] == [True] * 3
    assert re.search(
        r"^page\.md:\d+: a block: YAML isn't changed: can't be read as YAML",
        done.err,
        re.MULTILINE,
    )
    assert re.search(
        r"^page\.md:\d+: a part without apiVersion and kind: it isn't changed",
        done.err,
        re.MULTILINE,
    )
    assert re.search(
        r"^page\.md:\d+: ResourceClaim c: .* isn't changed: .*\$N", done.err, re.MULTILINE
    )


def test_text_with_shell_syntax_is_not_written_into_a_heredoc(project: Project) -> None:
    """A glob of the classic model becomes a regular expression that ends in $."""
    glob = """\
cat <<EOF
apiVersion: gpu.resource.nvidia.com/v1alpha1
kind: GpuClaimParameters
metadata: {name: a100}
spec: {count: 1, selector: {productName: "*a.100*"}}
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: c}
spec:
  resourceClassName: gpu.nvidia.com
  parametersRef: {apiGroup: gpu.resource.nvidia.com, kind: GpuClaimParameters, name: a100}
EOF
"""
    project.write("run.sh", glob)
    done = project.run("check", "--rewrite", "run.sh")
    assert (done.status, done.out) == (1, "")
    assert (
        'the new text contains "\\", which the shell would interpret; put quotes around the '
        "heredoc delimiter" in done.err
    )
    project.write("run.sh", glob.replace("<<EOF", "<<'EOF'"))
    assert project.run("check", "--rewrite", "run.sh").status == 0

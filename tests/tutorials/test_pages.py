"""`check` on pages and scripts: manifests in fenced blocks and heredocs, and commands that no
longer work.
"""

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


def test_blocks_and_heredocs_of_a_page_are_checked_with_their_lines(project: Project) -> None:
    assert findings(project, "README.md", PAGE) == [
        (11, "invalid-value"),
        (15, "fragment-not-judged"),
        (20, "version-not-served"),
        (25, "chart-never-existed"),
        # GPUs are enabled without the value that confirms that no device plugin serves the same
        # nodes
        (25, "value-refused"),
        (25, "value-refused"),  # the namespace default
    ]


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com, count: -1}}]}}
"""


def indented(text: str, by: str = "    ") -> str:
    return "".join(f"{by}{line}" for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"Save this:\n\n{indented(CLAIM)}\nThen go on.\n", [(6, "invalid-value")]),
        (f"Save this:\n\n{indented(CLAIM, chr(9))}", [(6, "invalid-value")]),
        (
            f"- In a list:\n\n{indented(CLAIM, '      ')}\n      kubectl get resourceclass\n",
            [(6, "invalid-value"), (8, "kind-gone")],
        ),
        ("Run:\n\n    kubectl get resourceclass\n", [(3, "kind-gone")]),
        (
            "Set:\n\n    --runtime-config=resource.k8s.io/v1beta1=true\n",
            [(3, "version-not-needed")],
        ),
        # no code in Markdown: its paragraph continues
        (f"Prose that goes on\n{indented(CLAIM)}", []),
        ("Text:\n\n    below an item, kind: of\n", []),
    ],
    ids=["plain", "tabs", "list", "commands", "flags", "paragraph", "prose"],
)
def test_indented_code_is_read_like_fenced_code(
    project: Project, page: str, expected: list[tuple[int, str]]
) -> None:
    assert [
        each for each in findings(project, "README.md", page) if each[1] != "fragment-not-judged"
    ] == expected


@pytest.mark.parametrize(
    "diff",
    [
        " apiVersion: v1\n kind: Pod\n metadata: {name: p}\n spec:\n+  resourceClaims: [{name: g, "
        "source: {}}]\n"
        "-  nodeName: n\n   containers: [{name: c, image: i}]\n",
        "--- a/pod.yaml\n+++ b/pod.yaml\n apiVersion: v1\n kind: Pod\n metadata: {name: p}\n "
        "spec:\n"
        "-  nodeName: n\n+  resourceClaims: [{name: g, source: {}}]\n   containers: [{name: c, "
        "image: i}]\n",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n+ resourceClaims: [{name: g, "
        "source: {}}]\n"
        "- nodeName: n\n  containers: [{name: c, image: i}]\n",
    ],
    ids=["signs", "headers", "without prompts"],
)
def test_diff_is_checked_by_its_result(project: Project, diff: str) -> None:
    lines = f"```diff\n{diff}```\n".splitlines()
    at = next(number for number, line in enumerate(lines, 1) if "resourceClaims" in line)
    assert (at, "unknown-field") in findings(project, "README.md", "\n".join(lines))


@pytest.mark.parametrize(
    "diff",
    [
        "@@ -3,4 +3,5 @@\n apiVersion: v1\n kind: Pod\n+spec: {}\n",
        "- kind: Pod\n+ [\n  apiVersion: v1\n",
    ],
)
def test_partial_or_non_yaml_diff_is_skipped(project: Project, diff: str) -> None:
    assert findings(project, "README.md", f"```diff\n{diff}```\n") == []


def test_object_in_a_shell_block_is_checked(project: Project) -> None:
    page = f"```bash\n{CLAIM}```\n\n```sh\ncat <<EOF\n{CLAIM}EOF\n```\n"
    assert [
        each for each in findings(project, "README.md", page) if each[1] == "invalid-value"
    ] == [
        (5, "invalid-value"),
        (13, "invalid-value"),
    ]


def test_flags_in_a_yaml_block_are_checked(
    project: Project,
) -> None:
    flags = (
        "```yaml\n--runtime-config=resource.k8s.io/v1beta1=true\n"
        "--feature-gates=DynamicResourceAllocation=true\n```\n"
    )
    assert findings(project, "README.md", flags) == [
        (2, "version-not-needed"),
        (3, "gate-not-needed"),
    ]
    assert findings(project, "README.md", f"# Volcano\n{flags}") == [(3, "version-not-needed")]


def test_comment_between_the_lines_of_a_command_cuts_it(project: Project) -> None:
    begin = "helm install d nvidia/nvidia-dra-driver-gpu \\\n"
    options = "  --namespace d \\\n  --set gpuResourcesEnabledOverride=true \\\n"
    assert findings(project, "run.sh", f"{begin}  # a release\n{options}") == [(2, "command-cut")]
    assert findings(project, "run.sh", f"{begin}{options}  # and other values\necho done\n") == []


def test_documents_separated_by_typographic_dashes_are_checked(project: Project) -> None:
    second = CLAIM.replace("name: a", "name: b")
    found = findings(project, "README.md", f"```yaml\n{CLAIM}\u2013--\n{second}```\n")
    assert found == [(5, "invalid-value"), (6, "block-not-read"), (10, "invalid-value")]


def test_partial_slice_is_treated_as_cluster_output(project: Project) -> None:
    text = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n  "
        "devices: [{name: gpu-0}]\n"
    )
    assert findings(project, "README.md", f"```yaml\n{text}```\n") == [(2, "output-not-judged")]
    assert ("required-value" in {code for _, code in findings(project, "slice.yaml", text)}) is True


def test_values_file_may_set_values_missing_from_the_command(project: Project) -> None:
    page = (
        "```bash\nhelm install o nvidia/gpu-operator -n o -f values.yaml  # for "
        "resource.k8s.io\n```\n"
    )
    values = "```yaml\ndevicePlugin:\n  # none\n  enabled: false\n```\n"
    project.write("README.md", page)
    (found,) = project.run("check", "README.md", "--format", "json").json["diagnostics"]
    assert (found["severity"], found["code"]) == ("note", "device-plugin-on-dra-node")
    assert found["message"].endswith(", unless values.yaml sets it")
    assert findings(project, "README.md", page + values.replace("  # none\n", "")) == [
        (5, "fragment-not-judged")
    ]


def test_terraform_block_with_objects_causes_no_error(project: Project) -> None:
    module = 'module "eks" {\n  source = "./eks"\n}\n'
    manifest = 'resource "kubernetes_manifest" "a" {\n  manifest = { kind = "Pod" }\n}\n'
    assert findings(project, "README.md", f"```hcl\n{module}```\n") == []
    assert findings(project, "README.md", f"```hcl\n{manifest}{manifest}```\n") == [
        (2, "terraform-not-judged"),
        (5, "terraform-not-judged"),
    ]


def test_script_is_checked(project: Project) -> None:
    manifest = "\tkind: Pod\n\tapiVersion: resource.k8s.io/v1\n\tEND\n"
    script = f"#!/bin/sh\nset -e\ncat <<-END | kubectl apply -f -\n{manifest}"
    assert findings(project, "install.sh", script) == [(4, "version-not-served")]


def test_typographic_characters_in_a_command_are_repaired(project: Project) -> None:
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
def test_objects_use_the_namespace_of_the_kubectl_command(
    project: Project, command: str, namespace: str
) -> None:
    for where in ("team-a", "team-b", "default"):
        project.write("run.sh", APPLIED.format(command=command, namespace=where))
        found = project.run("check", "run.sh", "--stack", "dev", "--format", "json").json[
            "diagnostics"
        ]
        is_found = not any("/one isn't in the manifests" in each["message"] for each in found)
        assert is_found == (where == namespace), found


def test_object_of_another_namespace_is_rejected_as_kubectl_does(project: Project) -> None:
    script = (
        "kubectl apply -n a -f - <<END\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, "
        "namespace: b}\nEND\n"
    )
    project.write("run.sh", script)
    (found,) = project.run("check", "run.sh", "--format", "json").json["diagnostics"]
    assert (found["line"], found["severity"], found["code"]) == (2, "error", "namespace-conflict")
    assert found["message"].endswith(
        'the namespace from the provided object "b" does not match the namespace "a". '
        "You must pass '--namespace=b' to perform this operation."
    )


FENCED = """\
```yaml
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: b}
spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.example.com}]}}
```
"""


@pytest.mark.parametrize(
    ("page", "line"),
    [
        (FENCED, 2),
        (f"!!! note\n\n{indented(FENCED)}", 4),
        (f'=== "Linux"\n\n{indented(FENCED, "        ")}', 4),
        (f"<details>\n{FENCED}</details>\n", 3),
        (f"10. Apply this:\n\n{indented(FENCED)}", 4),
        (f"- a\n  - b\n\n{indented(FENCED)}", 5),
        (indented(FENCED, "> "), 2),
        (f"Text\n{FENCED}", 3),
        (FENCED.removesuffix("```\n"), 2),
        (FENCED.replace("```", "~~~~"), 2),
        (FENCED.replace("```yaml", "```yaml title=claim.yaml"), 2),
        (FENCED.replace("```yaml", "``` yaml hl_lines=2"), 2),
    ],
    ids=[
        "a fence", "below a note", "below a tab", "below a tag", "in a numbered list", "in a list in a list", "quoted",
        "below text", "that does not end", "of tildes", "with a title", "with a blank",
    ],
)  # fmt: skip
def test_fence_is_read_at_any_indentation(project: Project, page: str, line: int) -> None:
    assert (line, "version-not-served") in findings(project, "page.md", page)

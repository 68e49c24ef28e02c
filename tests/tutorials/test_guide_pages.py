"""Correct parts of guides have no findings, in every markup language; outdated parts are
rewritten.
"""

from __future__ import annotations

import pytest
from command_project import Project

CLAIM = (
    "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec:\n  "
    "devices:\n    requests:\n"
)
RELEASE = """resource "helm_release" "dra" {
  chart     = "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu"
  version   = "0.4.1"
  namespace = "dra"
  values = [yamlencode({
    gpuResourcesEnabledOverride = true
    resources = { computeDomains = { enabled = false } }
  })]
}
"""
OPERATOR = """.. code-block:: console

   $ helm install op nvidia/gpu-operator -n op \\
       --set clusterPolicy.deployCR=false --set gpuCluster.deployCR=true
   $ kubectl get deviceclasses
"""
MACHINE = """apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: m}
spec:
  runStrategy: Always
  template:
    spec:
      resourceClaims: [{name: gpu, resourceClaimTemplateName: two}]
      domain: {devices: {gpus: [{name: a, claimName: gpu, requestName: gpu}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
WHOLE = f"{CLAIM}    - {{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com}}}}\n"
HEREDOC = f"```\nkubectl apply -f - <<EOF\n{WHOLE}EOF\n```\n"
SHORTENED = f"```yaml\n{CLAIM}    - name: gpu\n      exactly:\n        ...\n        count: 2\n```\n"
NETWORK = """apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fabric}
spec: {selectors: [{cel: {expression: 'device.driver == "dra.net"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: fabric}
spec: {spec: {devices: {requests: [{name: nic, exactly: {deviceClassName: fabric}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resourceClaims: [{name: nic, resourceClaimTemplateName: fabric}]
  containers: [{name: c, image: registry.example/c:1}]
"""
INSTALLED = (
    "helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.1 -n k8s-dra-driver-gpu "
    "--create-namespace"
)
RIGHT = {
    "release.tf": RELEASE,
    "operator.rst": OPERATOR,
    "machine.yaml": MACHINE,
    "heredoc.md": HEREDOC,
    "claim.adoc": f"[source,yaml]\n----\n{WHOLE}----\n",
    "install.sh": f"{INSTALLED} --set gpuResourcesEnabledOverride=true\n",
    "network.yaml": NETWORK,
    "domains.yaml": "resources:\n  gpus: {enabled: false}\n  computeDomains: {enabled: "
    "true}\nnvidiaDriverRoot: /\n",
}


@pytest.mark.parametrize("file", RIGHT)
def test_valid_page_has_no_findings(project: Project, file: str) -> None:
    project.write(file, RIGHT[file])
    done = project.run("check", file, "--format", "json")
    assert done.json["diagnostics"] == []
    assert done.status == 0


def test_abbreviated_object_is_checked_by_its_visible_fields(project: Project) -> None:
    project.write("page.md", SHORTENED.replace("count: 2", 'count: "2"'))
    found = project.run("check", "page.md", "--format", "json").json["diagnostics"]
    assert [(each["code"], each["line"]) for each in found] == [
        ("wrong-type", 11),
        ("object-shown-in-part", 2),
    ]
    project.write("page.md", SHORTENED)
    found = project.run("check", "page.md", "--format", "json").json["diagnostics"]
    assert [each["code"] for each in found] == ["object-shown-in-part"]


def test_command_outputs_share_one_note(project: Project) -> None:
    shown = "```\n$ kubectl get pods\nNAME   READY   STATUS\na      1/1     Running\n```\n\n"
    project.write("page.md", shown * 3)
    (note,) = project.run("check", "page.md", "--format", "json").json["diagnostics"]
    assert note["line"] == 3
    assert note["message"].endswith("isn't a manifest (also in lines 9, 15)")


def test_later_step_on_a_page_is_a_note(project: Project) -> None:
    one = "```yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: a%s}\n```\n"
    project.write("page.md", one % "" + one % ", labels: {team: red}")
    (found,) = project.run("check", "page.md", "--format", "json").json["diagnostics"]
    assert (found["code"], found["severity"]) == ("duplicate-object", "note")


OLDER = {
    "fields of v1alpha2 under a later version": "{resourceClassName: gpu.nvidia.com}",
    "fields of v1alpha3 under an earlier one": "{devices: {requests: [{name: gpu, deviceClassName: "
    "gpu.nvidia.com}]}}",
}


@pytest.mark.parametrize(
    ("version", "form"),
    [
        ("resource.k8s.io/v1alpha3", "fields of v1alpha2 under a later version"),
        ("resource.k8s.io/v1beta1", "fields of v1alpha2 under a later version"),
        ("v1", "fields of v1alpha2 under a later version"),
        ("resource.k8s.io/v1alpha2", "fields of v1alpha3 under an earlier one"),
    ],
)
def test_form_of_an_object_takes_precedence_over_its_version(
    project: Project, version: str, form: str
) -> None:
    project.write(
        "old.yaml",
        f"apiVersion: {version}\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {OLDER[form]}\n",
    )
    done = project.run("check", "--rewrite", "old.yaml")
    assert done.status == 0
    assert "which don't match its apiVersion" in done.err
    project.write("new.yaml", done.out)
    assert project.run("check", "new.yaml", "--format", "json").json["diagnostics"] == []


def test_older_classes_and_parameters_are_found(
    project: Project,
) -> None:
    project.write(
        "old.yaml",
        "apiVersion: resource.k8s.io/v1alpha3\nkind: ResourceClass\nmetadata: {name: fast}\n"
        "spec: {driverName: gpu.resource.nvidia.com}\n---\n"
        "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaimTemplate\nmetadata: {name: two}\n"
        "spec: {spec: {resourceClassName: fast, parametersRef: {apiGroup: gpu.nvidia.com/v1alpha1, "
        "kind: GpuClaimParameters, name: two}}}\n---\n"
        "apiVersion: gpu.nvidia.com/v1alpha1\nkind: GpuClaimParameters\nmetadata: {name: "
        "two}\nspec: {count: 2}\n",
    )
    done = project.run("check", "--rewrite", "old.yaml")
    assert done.status == 0
    assert "count: 2" in done.out
    assert 'device.driver == "gpu.nvidia.com"' in done.out.replace("'", '"')
    assert "GpuClaimParameters two: gpu.nvidia.com/v1alpha1 → removed" in done.err


def test_two_objects_in_one_document_are_reported_and_not_rewritten(project: Project) -> None:
    old = "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\nmetadata: {name: %s}\nspec: {}\n"
    project.write("old.yaml", old % "a" + old % "b")
    done = project.run("check", "--rewrite", "old.yaml")
    assert done.status == 1
    assert (
        "two objects aren't separated; add a line with --- before the second apiVersion" in done.err
    )
    project.write("old.yaml", old % "a" + "---\n" + old % "b")
    assert project.run("check", "--rewrite", "old.yaml").status == 0


def test_rewriting_handles_non_objects_and_typographic_separators(
    project: Project,
) -> None:
    page = (
        "# Page\n\n```yaml\napiVersion: resource.k8s.io/v1beta1  # as it was\nkind: "
        "DeviceClass\nmetadata: {name: a}\n"
        "spec: {}\n---\nstatus: {phase: Pending}\n```\n\n```yaml\napiVersion: v1\nkind: Namespace\n"
        "metadata: {name: n}\n\u2013--\napiVersion: resource.k8s.io/v1beta1\nkind: "
        "DeviceClass\nmetadata: {name: b}\n"
        "spec: {}\n```\n"
    )
    project.write("page.md", page)
    done = project.run("check", "--rewrite", "page.md")
    assert done.status == 1
    assert done.out == page.replace("v1beta1", "v1").replace("\u2013--", "---")
    assert "page.md:9: a block: YAML isn't changed: apiVersion isn't set" in done.err
    assert "page.md:16: a separator: \u2013-- → ---" in done.err


def test_objects_of_an_older_version_in_terraform_are_reported(project: Project) -> None:
    project.write(
        "claim.tf",
        'resource "kubernetes_manifest" "one" {\n  manifest = {\n    apiVersion = '
        '"resource.k8s.io/v1beta1"\n'
        '    kind       = "ResourceClaim"\n  }\n}\n',
    )
    done = project.run("check", "--rewrite", "claim.tf")
    assert done.status == 1
    assert "--rewrite doesn't support Terraform code; use resource.k8s.io/v1" in done.err

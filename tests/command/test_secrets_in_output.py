"""Facts that a report never contains, regardless of the inputs, because reports are sent to others,
and comments can be public.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from command_project import Project

ROOT = Path(__file__).parents[2]
PRINTED = sorted(
    path
    for folder in ("tests/command/golden", "tests/command/portfolio/golden", "docs")
    for path in (ROOT / folder).glob("*")
    if path.suffix in (".html", ".txt", ".json", ".svg")
    or (folder != "docs" and path.suffix == ".md")
)

# Input → the part of it that must not appear. Each occurs once in the inputs below.
GIVEN = {
    "a value of a variable": "env-value-5f1c",
    "an argument": "argument-5f1c",
    "a command": "entrypoint-5f1c",
    "an annotation": "annotation-5f1c",
    "a secret": "c2VjcmV0LTVmMWM=",
    "a configuration": "config-map-5f1c",
    "an opaque parameter": "parameter-5f1c",
    "an image": "image-5f1c",
    "a registry": "registry-5f1c.example.com",
    "a pull secret": "pull-secret-5f1c",
    "a volume on the host": "/host/path-5f1c",
    "a reservation": "cr-0123456789abcdef0",
    "a subnet": "subnet-0123456789abcdef0",
    "an allowed network": "198.18.7.0/24",
    "a secret of the stack": "v1:stack-secret-5f1c",
    "a node's address": "10.77.3.9",
    "a provider's identity": "aws:///us-east-1a/i-0123456789abcdef0",
}
STACK = """\
config:
  aws:region: us-east-1
  other:token: {secure: v1:stack-secret-5f1c}
  pulumi-dra:workloads: [workloads]
  pulumi-dra:fleet:
    cloud: eks
    region: us-east-1
    kubernetes: "1.34"
    systemPool: {machine: m7i.large}
    network: {subnetIds: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]}
    endpoint: {publicAccessCidrs: [198.18.7.0/24]}
    drivers: {nvidia: {version: 25.8.1}}
    pools:
      - {name: l4, machine: g6.2xlarge, count: {max: 1}, zones: [us-east-1a]}
      - name: h100
        machine: p5.48xlarge
        count: {max: 1}
        zones: [us-east-1a]
        capacity: {capacityBlock: cr-0123456789abcdef0}
"""
WORKLOADS = """\
apiVersion: v1
kind: Secret
metadata: {name: s}
data: {a: c2VjcmV0LTVmMWM=}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {a: config-map-5f1c}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, annotations: {a: annotation-5f1c}}
spec:
  spec:
    devices:
      requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]
      config:
        - opaque:
            driver: gpu.nvidia.com
            parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, zzz: parameter-5f1c}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {a: annotation-5f1c}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {a: annotation-5f1c}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      imagePullSecrets: [{name: pull-secret-5f1c}]
      volumes: [{name: v, hostPath: {path: /host/path-5f1c}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers:
        - name: main
          image: registry-5f1c.example.com/image-5f1c:1
          command: [entrypoint-5f1c]
          args: [argument-5f1c]
          env: [{name: A, value: env-value-5f1c}]
          resources: {claims: [{name: gpu}]}
"""
CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: node-1, annotations: {a: annotation-5f1c}}
spec: {providerID: "aws:///us-east-1a/i-0123456789abcdef0"}
status:
  allocatable: {cpu: 4, memory: 8Gi, pods: 10}
  addresses: [{type: InternalIP, address: 10.77.3.9}]
  images: [{names: [registry-5f1c.example.com/image-5f1c:1]}]
  nodeInfo: {kubeletVersion: v1.34.2}
"""
STACKS = """\
stacks: [{stack: stacks/Pulumi.prod.yaml, workloads: [workloads]}]
scenarios: [{name: twice, replicas: 2}]
ask: {simulate: off}
"""
RUNS = [
    ("plan", "--stack", "prod", "--verbose"),
    ("plan", "--stack", "prod", "--detail", "--format", "markdown"),
    ("plan", "--stack", "prod", "--format", "html"),
    ("plan", "--stack", "prod", "--format", "json"),
    ("plan", "--stack", "prod", "--matrix", "kubernetes=1.34,1.36"),
    ("plan", "--observed", "cluster.yaml", "workloads", "--verbose"),
    *(
        ("check", "--stack", "prod", "--format", form)
        for form in ("text", "markdown", "html", "json", "sarif", "junit", "github")
    ),
    *(
        (
            "explain",
            "--stack",
            "prod",
            "--claim",
            "default/web-0-gpu",
            "--verbose",
            "--format",
            form,
        )
        for form in ("text", "markdown", "html", "json")
    ),
    ("verify", "--observed", "cluster.yaml", "--stack", "prod"),
    *(
        (
            "suggest",
            "workloads",
            "--region",
            "us-east-1",
            "--machines",
            "g6.12xlarge",
            "-q",
            "--format",
            form,
        )
        for form in ("yaml", "json")
    ),
    *(("portfolio", "stacks.yaml", "-q", "--format", form) for form in ("text", "html", "json")),
    ("slices", "--stack", "prod", "--nodes"),
    ("explain", "--stack", "prod", "--pod", "default/web-0"),
    ("explain", "--stack", "prod", "--pod", "default/web-0", "--format", "json"),
    ("explain", "--stack", "prod", "--pool", "h100"),
    ("plan", "--stack", "prod", "--matrix", "kubernetes=1.34,1.36", "--format", "html"),
]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The output of every run, for a workload that fits and one that doesn't."""
    outputs = {}
    for count in ("1", "4"):
        project = Project(tmp_path_factory.mktemp("project"))
        project.write("stacks/Pulumi.prod.yaml", STACK)
        project.write("workloads/all.yaml", WORKLOADS.replace("COUNT", count))
        project.write("cluster.yaml", CLUSTER)
        project.write("stacks.yaml", STACKS)
        for words in RUNS:
            done = project.run(*words)
            assert done.out or words[0] == "suggest", (words, done.err)
            outputs[f"{count} {' '.join(words)}"] = done.out + done.err
        outputs[f"{count} folder"] = str(project.root)
    return outputs


@pytest.mark.parametrize("what", GIVEN)
def test_secret_is_in_no_output(what: str, printed: dict[str, str]) -> None:
    assert any(GIVEN[what] in text for text in (STACK, WORKLOADS, CLUSTER))
    assert [words for words, text in printed.items() if GIVEN[what] in text] == []


def test_absolute_path_is_in_no_output(printed: dict[str, str]) -> None:
    folders = [text for words, text in printed.items() if words.endswith("folder")]
    assert [
        w
        for w, text in printed.items()
        if not w.endswith("folder") and any(f in text for f in folders)
    ] == []


NEVER = {
    "an account": r"\b(?<![\d.])\d{12}(?![\d.])\b",
    "an ARN": r"\barn:aws",
    "a subnet, a network or a reservation": r"\b(subnet|vpc|sg|cr|eni|i)-[0-9a-f]{8,17}\b",
    "a project": r"\bprojects/[a-z]",
    "a token": r"\beyJ[A-Za-z0-9_-]{10,}|BEGIN (CERTIFICATE|[A-Z ]*PRIVATE "
    r"KEY)|\bAKIA[0-9A-Z]{16}\b",
    "an address": r"\b(?:10|172|192|198|203)\.\d{1,3}\.\d{1,3}\.\d{1,3}\b",
    "an endpoint": r"https?://(?![a-z.]*(?:kubernetes\.io|json-schema\.org|w3\.org|github\.com|docs\.))[^\s\"']+",
    "a path of a machine": r"(?<![\w.<])/(?:home|root|tmp|Users|var/folders)/",
    "a registry": r"\bregistry\.example|\.dkr\.ecr\.|\bgcr\.io/|\bnvcr\.io/|\bdocker\.io/",
}


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.name)
def test_example_contains_no_secret(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = {what: hit[0] for what, pattern in NEVER.items() if (hit := re.search(pattern, text))}
    assert found == {}


def test_inputs_are_read_as_intended() -> None:
    assert {each["kind"] for each in yaml.safe_load_all(WORKLOADS)} >= {
        "Secret",
        "ConfigMap",
        "Deployment",
    }
    assert yaml.safe_load(STACK)["config"]["other:token"]

"""Small stacks for the tests of portfolios, as text."""

from __future__ import annotations

from typing import Any

from dra_planner.fleet import read_document
from dra_planner.portfolio.cells import StackCells
from dra_planner.portfolio.inputs import ScenarioInputs, StackInputs
from dra_planner.portfolio.reading import read_portfolio
from dra_planner.portfolio.schema import Portfolio
from dra_planner.sources import Source

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.34"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
network: {zones: [us-east-1a, us-east-1b]}
pools:
  - {name: l4, machine: g6.2xlarge, count: {min: 0, max: 6}}
  - {name: quad, machine: g6.12xlarge, count: {min: 0, max: 3}, zones: [us-east-1a]}
"""


def deployment(
    name: str, replicas: int, gpus: int = 1, labels: str = "{}", namespace: str = "default"
) -> str:
    """Return a Deployment whose pods claim this number of GPUs each, with its template."""
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  spec:
    devices:
      requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com, count: {gpus}}}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {namespace}, labels: {labels}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
      containers:
        - name: main
          image: registry.example/{name}:1
          resources: {{requests: {{cpu: 100m}}, claims: [{{name: gpu}}]}}
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: {name}}}]
---
"""


def portfolio(**parts: Any) -> Portfolio:
    """Return a portfolio of one stack with these parts."""
    return read_portfolio({"stacks": [{"fleet": "fleet.yaml", "workloads": ["work"]}], **parts})


def cells(given: Portfolio, workloads: str, fleet: str = FLEET) -> StackCells:
    """Return the cells of one stack."""
    inputs = StackInputs(
        name="one",
        settings=Source("fleet.yaml", fleet),
        is_fleet=True,
        sources=(Source("work", workloads),),
    )
    return StackCells(inputs, given.ask)


def future(given: Portfolio, name: str, added: str = "") -> ScenarioInputs:
    """Return a scenario by name, with manifests that it adds."""
    (scenario,) = [each for each in given.all_scenarios if each.name == name]
    return ScenarioInputs(
        scenario=scenario, added=(Source("work/added.yaml", added),) if added else ()
    )


def document(text: str) -> Any:
    """Return the data of a document, which knows its lines."""
    return read_document(text, "portfolio.yaml")

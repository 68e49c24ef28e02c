"""The card of a workload that fits no pool shows the nearest pool, and folds the other pools."""

from __future__ import annotations

from command_project import Project

WORKLOAD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: large}]
  containers: [{name: main, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: large, namespace: default}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            selectors:
              - cel: {expression: 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'}
"""
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools:
"""
MACHINES = ("g4dn.xlarge", "g6.2xlarge", "g5.2xlarge", "p5.4xlarge", "g6e.2xlarge")


def test_card_shows_the_nearest_pool_and_folds_the_others(project: Project) -> None:
    pools = [
        f"  - {{name: {each.replace('.', '-')}, machine: {each}, count: {{max: 1}}}}\n"
        for each in MACHINES
    ]
    project.write("m.yaml", WORKLOAD)
    project.write("fleet.yaml", FLEET + "".join(pools))

    page = project.run("plan", "m.yaml", "--fleet", "fleet.yaml", "--format", "html").out

    card = page[page.index("Pod default/web: ") :].partition("</li>")[0]
    shown, _, folded = card.partition("<details>")
    assert "81559Mi" in shown
    assert "<summary>4 more reasons and their fixes</summary>" in card
    assert "81559Mi" in card.partition("<del>")[2]
    assert all(name in folded and name not in shown for name in ("g4dn-xlarge", "g6e-2xlarge"))

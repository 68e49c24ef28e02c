"""A workload with a claim, and a patch of it, for tests of kustomizations."""

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
WORKLOAD = f"""\
{CLAIM}---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: serve, namespace: ml}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: serve}}}}
  template:
    metadata: {{labels: {{app: serve}}}}
    spec:
      tolerations: [{{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu}}]
      containers: [{{name: main, image: "app:1", resources: {{claims: [{{name: gpu}}]}}}}]
"""
REPLICAS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: ml}
spec: {replicas: 50}
"""

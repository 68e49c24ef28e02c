"""Examples that show how to express removed fields in v1."""

from __future__ import annotations

from typing import Final

NODES_OF_A_CLASS: Final = """\
# the pods that use the class choose the nodes
apiVersion: v1
kind: Pod
metadata: {name: training}
spec:
  nodeSelector: {example.com/gpu-nodes: "true"}
  containers:
    - name: main
      image: registry.example.com/training
      resources: {claims: [{name: gpu}]}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
"""

COUNTERS_APART: Final = """\
# one slice with the counter sets and one with the devices, both in one pool
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-counters}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 2}
  sharedCounters: [{name: gpu-0, counters: {memory: {value: 80Gi}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-devices}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 2}
  devices:
    - name: half-0
      consumesCounters: [{counterSet: gpu-0, counters: {memory: {value: 40Gi}}}]
"""

CONTROLLER: Final = """\
# if the driver publishes ResourceSlices, a claim doesn't need a controller
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec:
  devices:
    requests:
      - name: gpu
        exactly: {deviceClassName: gpu.example.com}
"""

ONE_FORM: Final = """\
# a request has either exactly or firstAvailable, and all fields are below it
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec:
  devices:
    requests:
      - name: gpu
        firstAvailable:
          - {name: two, deviceClassName: gpu.example.com, count: 2}
          - {name: one, deviceClassName: gpu.example.com}
"""

POD: Final = """\
# the name of the claim, or of its template, is in the entry itself
apiVersion: v1
kind: Pod
metadata: {name: training}
spec:
  containers:
    - name: main
      image: registry.example.com/training
      resources: {claims: [{name: gpu}]}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
"""

IMMEDIATE: Final = """\
# a claim is allocated when a pod that uses it is scheduled, so an idle pod can hold it
apiVersion: v1
kind: Pod
metadata: {name: hold-gpu}
spec:
  containers:
    - name: pause
      image: registry.k8s.io/pause:3.10
      resources: {claims: [{name: gpu}]}
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
"""

CLAIM: Final = """\
# the claim itself contains the request from the parameters object
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two-big-gpus}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            count: 2
            selectors:
              - cel: {expression: 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'}
"""

CLASS: Final = """\
# filters become selectors, and driver parameters become config
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: shared-gpu}
spec:
  selectors:
    - cel: {expression: 'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "gpu"'}
  config:
    - opaque:
        driver: gpu.nvidia.com
        parameters:
          apiVersion: resource.nvidia.com/v1beta1
          kind: GpuConfig
          sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}
"""

SLICES_OF_ONE_GPU: Final = """\
# one claim with a request per MIG device; all of them come from one GPU
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: mig-of-one-gpu}
spec:
  spec:
    devices:
      requests:
        - name: mig-0
          exactly:
            deviceClassName: mig.nvidia.com
            selectors: [{cel: {expression: 'device.attributes["gpu.nvidia.com"].profile == "1g.5gb"'}}]
        - name: mig-1
          exactly:
            deviceClassName: mig.nvidia.com
            selectors: [{cel: {expression: 'device.attributes["gpu.nvidia.com"].profile == "2g.10gb"'}}]
      constraints:
        - {requests: [mig-0, mig-1], matchAttribute: gpu.nvidia.com/parentUUID}
"""

SHARE_OF_A_GPU: Final = """\
# a share of a device, if the driver publishes devices that can be shared (DRAConsumableCapacity, on from 1.36)
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: part-of-a-gpu}
spec:
  devices:
    requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.intel.com
          capacity: {requests: {memory: 4Gi, millicores: "500"}}
"""

MONITOR: Final = """\
# a monitoring pod can access every device, in use or not, from a namespace with the label
# resource.kubernetes.io/admin-access: "true"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: monitor, namespace: monitoring}
spec:
  devices:
    requests:
      - name: gpus
        exactly: {deviceClassName: gpu.intel.com, allocationMode: All, adminAccess: true}
"""

TAINT_RULE: Final = """\
# for 1.37 and later; in earlier versions, keep v1alpha3 or v1beta2 and enable it in the API server
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: broken-gpu}
spec:
  deviceSelector: {driver: gpu.example.com, pool: n1, device: gpu-0}
  taint: {key: example.com/broken, effect: NoSchedule}
"""

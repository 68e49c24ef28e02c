helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.1 \
  --namespace dra --create-namespace --set gpuResourcesEnabledOverride=true \
  --set nvidiaDriverRoot=/ \   # where the driver is
  --set resources.computeDomains.enabled=false

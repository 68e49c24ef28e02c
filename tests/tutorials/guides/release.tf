resource "helm_release" "dra" {
  chart     = "oci://registry.k8s.io/dra-driver-nvidia/charts/dra-driver-nvidia-gpu"
  version   = "0.4.1"
  namespace = "dra"
  values = [yamlencode({
    nvidiaDriverRoot = "/"
    resources = {
      gpus = { enabled = true }
    }
  })]
}

"""Boot of an EKS node: image, launch template, and programs that run before kubelet."""

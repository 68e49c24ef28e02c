"""Boot of an EKS node: its image, launch template, and what runs before the kubelet."""

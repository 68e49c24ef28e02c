"""Access to an EKS cluster: administrators, access entries, and kubeconfig."""

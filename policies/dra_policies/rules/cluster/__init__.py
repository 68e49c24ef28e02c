"""Rules about the cluster: its Kubernetes version, its system nodes, and a security baseline."""

"""The EKS cluster: control plane, add-ons, logs, and system nodes."""

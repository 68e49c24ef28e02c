"""The GKE cluster: control plane, monitoring, and storage."""

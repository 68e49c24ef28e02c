"""The network of a GKE cluster: ranges and zones."""

"""The simulated Kubernetes provider."""

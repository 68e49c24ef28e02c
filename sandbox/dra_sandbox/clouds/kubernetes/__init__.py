"""The stand-in for the Kubernetes provider."""

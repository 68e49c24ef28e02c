"""The simulated Azure: the resource types of an AKS platform."""

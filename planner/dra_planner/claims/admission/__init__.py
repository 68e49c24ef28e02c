"""The pod fields that the API server sets, and the pods that it rejects."""

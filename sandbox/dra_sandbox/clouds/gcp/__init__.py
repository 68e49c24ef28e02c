"""The simulated Google Cloud provider."""

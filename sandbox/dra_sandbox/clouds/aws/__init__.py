"""The simulated AWS provider."""

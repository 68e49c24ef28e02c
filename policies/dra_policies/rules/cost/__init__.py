"""Rules about monthly cost."""

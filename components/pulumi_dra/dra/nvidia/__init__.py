"""The NVIDIA DRA driver: its Helm release, values, quota, and policies."""

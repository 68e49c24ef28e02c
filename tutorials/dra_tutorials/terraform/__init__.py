"""Terraform programs: Kubernetes objects and Helm releases in them."""

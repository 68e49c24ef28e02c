"""Read Kubernetes objects and Helm releases in Terraform programs."""

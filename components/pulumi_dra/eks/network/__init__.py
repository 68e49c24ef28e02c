"""The VPC of an EKS cluster: addresses, zones, endpoints, and flow logs."""

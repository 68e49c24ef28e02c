"""Rules about tenants: quotas, permissions, and devices that several namespaces share."""

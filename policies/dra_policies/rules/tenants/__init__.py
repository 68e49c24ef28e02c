"""Rules about tenants: quotas, privileges, and devices that several namespaces share."""

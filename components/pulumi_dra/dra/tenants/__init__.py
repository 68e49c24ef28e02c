"""Rights of tenants: claims in their namespaces, and who may get admin access."""

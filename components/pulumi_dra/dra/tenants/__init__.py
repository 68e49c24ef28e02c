"""Permissions of tenants: claims in their namespaces, and admin access."""

"""Serve the rules of the installed package to the Pulumi engine."""

from dra_policies.pack import serve_pack

serve_pack()

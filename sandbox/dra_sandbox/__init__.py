"""Rehearse: the real Pulumi engine on a local backend, with stand-ins for the clouds.

`engine.Engine` drives it from Python; `python -m dra_sandbox` from a shell.
"""

"""Rehearse: the real Pulumi engine on a local backend, with simulated clouds.

`engine.Engine` drives it from Python; `python -m dra_sandbox` from a shell.
"""

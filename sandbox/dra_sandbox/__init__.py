"""Run the real Pulumi engine on a local backend with simulated clouds.

Use `engine.Engine` from Python, or `python -m dra_sandbox` from a shell.
"""

"""Check configuration files of tools that create clusters for settings that no longer work or never
worked.
"""

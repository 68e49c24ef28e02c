"""Words of the command line: options, usage errors, exit status, progress, and files that are
written.
"""

"""Command-line options, usage errors, exit statuses, progress output, and output files."""

"""Find manifests in pages and scripts: code fences, heredocs, and embedded files."""

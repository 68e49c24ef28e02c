"""Read Helm, kubectl, and MIG commands in tutorials."""

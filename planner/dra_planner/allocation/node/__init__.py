"""One node: its state and template, and the scheduler's filters other than devices."""

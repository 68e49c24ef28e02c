"""`pulumi-dra ci`: plan and check a change in a pipeline, and keep one comment on it up to date."""

"""`pulumi-dra rules`: test the rules of a project, and print the objects that they read."""

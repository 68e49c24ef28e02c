"""Rules about the plan that a stack records, and about resources that differ from it."""

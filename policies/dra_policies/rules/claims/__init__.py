"""Rules about claims: their requests, selectors, classes, and whether any pool satisfies them."""

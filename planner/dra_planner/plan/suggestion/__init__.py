"""Suggestions: the cheapest fleet, pools to add, and the price of one more pod or node."""

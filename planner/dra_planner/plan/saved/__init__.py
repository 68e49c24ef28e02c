"""A saved plan: its document, and what has changed since."""

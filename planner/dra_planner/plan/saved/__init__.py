"""A saved plan: its document, and changes since."""

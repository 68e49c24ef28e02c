"""The tables of a plan for text and Markdown, one module for each table."""

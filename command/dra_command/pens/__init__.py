"""Appearance of text, Markdown, HTML, and SVG in all reports."""

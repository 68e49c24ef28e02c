"""Layout and style of text, Markdown, HTML, and SVG reports."""

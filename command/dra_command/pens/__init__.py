"""How text, Markdown, HTML, and SVG look in all reports."""

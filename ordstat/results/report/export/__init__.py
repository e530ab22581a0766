"""Tables as text of other programs: LaTeX, Markdown, Typst, HTML, Word."""

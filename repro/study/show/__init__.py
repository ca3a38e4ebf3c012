"""The scoreboard and the report: in a terminal, as Markdown, as pages."""

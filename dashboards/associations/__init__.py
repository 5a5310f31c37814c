"""The questions of the page Effects: each a report as a figure, as sentences and as a table."""

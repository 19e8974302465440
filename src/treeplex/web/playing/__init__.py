"""A person at a table: what is drawn, judged and kept."""

"""Play at a table: drawing, judging and storing a person's hands."""

"""Play at a table: drawing, evaluating and storing a person's hands."""

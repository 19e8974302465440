"""The structure of extensive forms: nested information, decomposition, stages and reordering."""

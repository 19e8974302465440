"""The structure of extensive forms: nested information, decomposition, levels of play and reordering."""

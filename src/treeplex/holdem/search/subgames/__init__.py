"""Streets of a spot as subgames: arrays, endgame solving, best responses, action values and warm starts."""

"""Streets of a spot as subgames: their arrays, endgame solving, best responses, action values and guesses."""

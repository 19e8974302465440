"""Deep CFR and its variants: learners of regrets."""

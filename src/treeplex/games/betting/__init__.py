"""The betting of card games, cards aside: sizes, nodes as arrays, who can win which chips, rows of hands."""

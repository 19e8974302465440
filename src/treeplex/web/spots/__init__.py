"""Hold'em in the page: new spots, solved spots and their nodes, and preflop charts."""

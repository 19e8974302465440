"""The hold'em engine: the four operations over hands, boards and betting, with card removal."""

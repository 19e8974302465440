"""The hold'em engine: the four solver operations on hands, boards and betting trees, with card removal."""

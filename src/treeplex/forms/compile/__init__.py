"""From rules to compiled games: the walk over histories, public trees, and what both assemble."""

"""Values where a search of hold'em ends: networks, exact endgames, continuations, all-ins."""

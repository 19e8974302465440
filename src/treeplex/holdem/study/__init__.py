"""Tools for players and coaches: equities, reports, batches of boards, hand reviews, charts and HTML pages."""

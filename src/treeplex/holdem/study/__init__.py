"""Tools for players and coaches: equities, reports, batches of flops, hand reviews, charts and pages."""

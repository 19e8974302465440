"""Reports of solved spots: nodes, lines, exports, hand histories, page data."""

"""Read a solved spot: views of nodes, lines, exports, hand histories, page data."""

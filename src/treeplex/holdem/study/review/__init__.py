"""Hand reviews: played hands evaluated street by street, and default ranges by position."""

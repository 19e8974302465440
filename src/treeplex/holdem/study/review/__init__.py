"""Hand reviews: played hands judged street by street, poker rooms' hand histories, and ranges by position."""

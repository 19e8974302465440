"""A hand that was played, judged street by street: hand histories of poker rooms, ranges by position, the review itself."""

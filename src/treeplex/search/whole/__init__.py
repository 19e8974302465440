"""Search over whole hold'em, street by street."""

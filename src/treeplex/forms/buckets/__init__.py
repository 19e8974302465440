"""Limit hold'em in buckets, street by street: walks by matrix products, and the form that update rules sweep."""

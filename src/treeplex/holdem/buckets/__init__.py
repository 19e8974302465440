"""Card abstraction: buckets of hands with similar strength, and the abstract game over buckets."""

"""Card abstraction: hands of similar strength share a bucket, and the abstract game over buckets."""

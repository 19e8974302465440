"""``resolver``: continual re-solving of heads-up no-limit hold'em without buckets."""

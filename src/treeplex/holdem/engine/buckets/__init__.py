"""Limit hold'em in buckets: assignment of hands, sampled deals, streets and playouts."""

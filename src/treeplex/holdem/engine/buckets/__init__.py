"""Kernels for bucketed limit hold'em: assignment of hands, sampled deals, streets and playouts."""

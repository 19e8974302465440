"""Kernels for bucketed limit hold'em: bucket assignment, sampled deals, streets and playouts."""

"""Parallel jobs in this process, on threads, in local processes or on a Ray cluster, with identical results."""

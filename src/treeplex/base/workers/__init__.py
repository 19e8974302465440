"""Jobs done in this process, on threads, in processes of this machine or on a Ray cluster, with the same numbers."""

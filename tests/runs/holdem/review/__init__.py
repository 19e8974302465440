"""Reviews of hands that were played."""

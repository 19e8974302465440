"""Value networks for single hold'em hands at the start or end of a street."""

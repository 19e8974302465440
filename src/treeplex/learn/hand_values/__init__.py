"""Value networks for single hold'em hands at the start of a street, fitted to streets solved to the end."""

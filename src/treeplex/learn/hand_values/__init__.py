"""Value networks for single hold'em hands at the start of a street, trained on situations solved to the end of the hand."""

"""One spot on many boards: lists of boards, workers, and what comes of all of them."""

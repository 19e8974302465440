"""The learner ``blueprint``: full-game hold'em with any number of players."""

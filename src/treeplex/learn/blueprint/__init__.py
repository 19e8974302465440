"""The learner ``blueprint``: whole hold'em of any number of players."""

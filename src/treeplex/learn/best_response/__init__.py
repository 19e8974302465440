"""A best response, learned by playing against a fixed agent: a lower bound of what it can lose in games too large to walk."""

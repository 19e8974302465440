"""Tables where a person plays against agents or policies."""

"""Named hold'em agents: agents that play blueprints, and agents that search from blueprints."""

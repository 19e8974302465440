"""Named hold'em agents: blueprints, and searches on top of them."""

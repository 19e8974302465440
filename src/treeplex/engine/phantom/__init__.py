"""Phantom games by timelines: given a timeline, the infosets of the two players are independent."""

"""Policies of hold'em: tables of hands and buckets, blueprints, charts before the flop."""

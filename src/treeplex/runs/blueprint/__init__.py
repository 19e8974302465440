"""Blueprints of whole hold'em: trained, written, read."""

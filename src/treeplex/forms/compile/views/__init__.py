"""Compiled games seen in other ways: as histories, tensors, a matrix, a form to iterate on."""

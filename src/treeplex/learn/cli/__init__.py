"""Commands that train: ``treeplex train``, and networks in ``treeplex evaluate``."""

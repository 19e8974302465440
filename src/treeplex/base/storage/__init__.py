"""Files on disk: atomic writes, checksums and tensors that never run code."""

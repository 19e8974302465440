"""Files on disk: atomic writes, checksums and tensor files that never run code."""

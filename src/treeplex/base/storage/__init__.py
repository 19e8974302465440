"""File storage: atomic writes, checksums, and safetensors files, which cannot contain code."""

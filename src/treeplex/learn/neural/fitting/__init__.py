"""Function approximation from training rows: networks, tables, buffers, and gradient steps."""

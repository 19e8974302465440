"""Function approximation from rows: networks, tables in their place, buffers of rows, and steps along gradients."""

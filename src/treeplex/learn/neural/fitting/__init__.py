"""What learns numbers from rows: networks, tables in their place, buffers of rows, and steps along gradients."""

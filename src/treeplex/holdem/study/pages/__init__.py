"""Pages to look at: solved spots as HTML, range grids as text and images."""

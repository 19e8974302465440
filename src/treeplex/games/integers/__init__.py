"""Built-in games as Numba functions on integer states; imported on demand, since they import Numba."""

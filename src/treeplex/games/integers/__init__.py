"""Built-in games as Numba functions on whole numbers; imported only when they are asked for, since they import Numba."""

"""Value networks for single hands of hold'em where a street begins, fitted to streets that are solved to the end."""

"""The parts of the reproduction: one file for each figure, table and group of claims."""

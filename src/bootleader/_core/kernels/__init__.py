"""The compiled kernels that play runs."""

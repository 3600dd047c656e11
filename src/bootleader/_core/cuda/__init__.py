"""Kernels for NVIDIA GPUs: one thread plays one run, with the scalar functions that the CPU's kernels call.

Nothing here is imported unless a simulation asks for ``device="cuda"``.
"""

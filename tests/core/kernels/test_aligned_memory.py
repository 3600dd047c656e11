"""Arrays that begin at cache lines."""

import numpy as np

from bootleader._core.kernels.aligned_memory import aligned_copies, aligned_zeros

SHAPES = [(3,), (2, 5), (0,), (4, 3, 2), (64,)]


def test_arrays_begin_at_cache_lines_and_do_not_overlap():
    arrays = aligned_zeros(*SHAPES)
    for number, array in enumerate(arrays, start=1):
        assert array.size == 0 or array.ctypes.data % 64 == 0
        assert array.flags.c_contiguous
        array[...] = number
    for number, (array, shape) in enumerate(zip(arrays, SHAPES, strict=True), start=1):
        assert array.shape == shape
        assert (array == number).all()


def test_copies_have_the_numbers_and_types_of_their_originals():
    originals = [np.arange(10.0).reshape(2, 5)[:, 1:3], np.array([2**64 - 1], np.uint64), np.array([-3, 5])]
    for copy, original in zip(aligned_copies(originals), originals, strict=True):
        assert copy.ctypes.data % 64 == 0
        assert copy.dtype == original.dtype
        np.testing.assert_array_equal(copy, original)
        assert not np.shares_memory(copy, original)

# SPDX-License-Identifier: Apache-2.0
# Sums and means of arrays.
from codipy.active.array_type cimport Array

# np.add.reduce or np.mean over `axis` (None, an int or a tuple).
cdef object add_reduce(Array a, axis, bint keepdims, bint mean)

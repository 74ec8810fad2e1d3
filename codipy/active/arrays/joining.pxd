# SPDX-License-Identifier: Apache-2.0
# Arrays put together of pieces that lie in a row: np.concatenate, np.stack, np.append, np.roll, np.pad.

# NotImplemented where the arguments are not Arrays and plain arrays of float64 in the order of C, or pieces are so short
# that identifiers are better moved one by one.
cdef object join(object func, tuple args, dict kwargs)

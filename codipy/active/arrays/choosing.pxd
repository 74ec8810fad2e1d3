# SPDX-License-Identifier: Apache-2.0
# np.where and np.clip of active arrays: elements chosen place by place.
#
# NotImplemented for operands that are no numbers of float64 in the order of C, and where a tape may be replayed: its
# movements name elements one by one.
cdef object choose_where(tuple args)
cdef object choose_clip(tuple args)

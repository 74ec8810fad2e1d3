# SPDX-License-Identifier: Apache-2.0
# Sums and means of arrays.
from codipy.active.core.base_array cimport BaseArray
from codipy.tape.recorder cimport Recorder

# np.add.reduce or np.mean over `axis` (None, an int or a tuple).
# `spare`: what `a` waits for is probably nobody else's, and is summed without becoming a statement of its own.
cdef object add_reduce(BaseArray a, axis, bint keepdims, bint mean, bint spare)
# The same for the arguments of np.sum or np.mean; NotImplemented where there are others than the axis and keepdims.
cdef object add_reduce_as_asked(tuple args, dict kwargs, bint mean, int door)
# The values of what waits, as a passive array that nobody else has.
cdef BaseArray values_of(Recorder* r, BaseArray a)

# SPDX-License-Identifier: Apache-2.0
# Operands of matrix products that depend on what is active in the same way all along an axis.
from codipy.active.core.base_array cimport BaseArray
from codipy.tape.recorder cimport Recorder

# What waits as a passive array of its values, and an array of the same shape on the identifiers of a statement without that
# axis, along which its stride is 0. None, and nothing done, where this is not so for what waits.
cdef tuple without_axis(Recorder* r, BaseArray a, int axis)

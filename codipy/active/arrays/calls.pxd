# SPDX-License-Identifier: Apache-2.0
# Calls of primitives on active arrays.

# The short way to `call`, for a ufunc that is a primitive (matmul): its inputs must be Arrays, one of them active, and
# plain arrays of float64. Else NotImplemented, and the way leads through the door of ufuncs.
# `spare`: a bit for each input that probably nobody else has.
cdef object call_direct(object primitive, tuple inputs, int spare)
cpdef object call(object primitive, object args, object kwargs=*)

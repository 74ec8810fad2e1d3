# SPDX-License-Identifier: Apache-2.0
# Calls of primitives on active arrays.

# `call` of a primitive that is a ufunc's, where its door would only look at what there is: an active Array among Arrays
# and plain arrays of float64. Else NotImplemented.
cdef object call_direct(object primitive, tuple inputs)

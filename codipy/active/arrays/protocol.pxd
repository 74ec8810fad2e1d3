# SPDX-License-Identifier: Apache-2.0
# The short way from `__array_function__` to the tape.

# The result of a function of NumPy, recorded; NotImplemented where nothing is active, or the arguments are not simple.
cdef object short_way(object func, tuple args, dict kwargs)

# SPDX-License-Identifier: Apache-2.0
# Which number of the plain run a Real stands for, and what operators do where that is a scalar of NumPy.
from cpython.object cimport PyObject

from codipy.active.scalar.real cimport Real

# A float of Python, or the scalar that NumPy has for an element, a sum, the result of a ufunc. By NEP 50 Python's
# numbers are weak, so the kind of a result is that of its operands joined by "or", where SINGLE | DOUBLE means DOUBLE.
# Rejected: a second class, which every operator would have to ask for; the kind costs an operation on floats one branch.
cdef enum Kind:
    PYTHON = 0
    SINGLE = 1                   # numpy.float32: the value is one, and what is computed with it is rounded to one
    DOUBLE = 2                   # numpy.float64
    # Of operands only:
    SMALL = 4                    # an integer that float32 holds: SINGLE beside one, else DOUBLE
    HALF = 8                     # numpy.float16: SINGLE or DOUBLE beside one, else refused
    LONG = 16                    # numpy.longdouble: refused
    BOXED = 32                   # an integer of NumPy, or in an array without dimensions: operators are the ufuncs

# The kind of a plain value: of NumPy's scalars SINGLE or DOUBLE, else PYTHON.
cdef int kind_of(object value) except -1
# What an operand that is neither a Real nor a float nor an int says of the result's kind.
cdef int operand_kind(object o) except -1
# What the plain run has in the place of x: a float, a numpy.float64 or a numpy.float32.
cdef object plain_scalar(Real x)
# The same of any operand, which is itself if it is no Real.
cdef object plain_operand(PyObject* x)
# x as another kind, on the same slot; in float32 rounded.
cdef Real as_kind(Real x, int kind)
# NumPy's own value where `value`, which C computed, is not finite or too small to be exact, with NumPy's warnings.
cdef double numpy_value(int code, int n, double x, double y, double value) except? -1.0
# An operator on operands whose kinds, joined, are neither PYTHON nor DOUBLE.
cdef object apply_mixed(int code, int n, PyObject* x, PyObject* y)
# An operator where an operand is no real number: of a scalar of NumPy and a list, else NotImplemented.
cdef object apply_to_list(int code, int n, PyObject* x, PyObject* y)
# Whether o is a ratio of Python's, as fractions.Fraction.
cdef bint is_fraction(object o) except -1
# An operator with one where NumPy leaves it to Python: of a scalar of NumPy a float is taken.
cdef object beside_fraction(int code, PyObject* x, PyObject* y)
# NumPy's answer to `x op y` with op as in `__richcmp__`, for two numbers whose joined kind is not PYTHON.
cdef object compare(double x, double y, int op, int kind)
# The Real of an operation on active operands (NULL: passive) of values u. In float32 the value is rounded already, and
# on a tape that computes values again a statement says so. `flags` is OF_NUMPY where NumPy's loop gave the value, else 0.
cdef PyObject* record(int code, int n, PyObject** operands, double* u, double value, int kind, int flags) except NULL
# An operator of plain values; NotImplemented where they have no such operation, so that the error names what was given.
# An object of a class of the user's is asked itself, with the Real.
cdef object plain_operation(object function, PyObject* x, PyObject* y)
# Whether o may be of a class that was written in Python, and is no number.
cdef bint is_of_python(object o) except -1
# Whether the Python code that led here is at `%`, which takes a float of a Real only to write it into a text.
cdef bint formats() except -1

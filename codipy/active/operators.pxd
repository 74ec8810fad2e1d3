# SPDX-License-Identifier: Apache-2.0
# The operators of arrays.
from cpython.object cimport PyObject

from codipy.active.arrays.elementwise cimport operate
from codipy.active.core.base_array cimport BaseArray

# `a op= other`: 1 if done, 0 where the operand is no number or array.
cdef object in_place(int code, BaseArray a, PyObject* other)
# A ufunc of the operations table on the operands that NumPy gave to the method of `asked`; NotImplemented for others.
cdef object apply_row(object ufunc, tuple operands, PyObject* asked)
# a ** y, with NumPy's own short cuts for scalar exponents.
cdef object power(PyObject* x, PyObject* y)
# x // y, and divmod(x, y).
cdef object floor_divide(PyObject* x, PyObject* y)
cdef object both(PyObject* x, PyObject* y)
cdef object matmul(object x, object y)
# The Array after `a = function(a, other)` in place, for the operators that are no row; NotImplemented as above.
cdef object written(BaseArray a, object function, object other)
# What `a < other` and its like give, by their number in Python; NotImplemented where the other object is to say.
cdef object compared(BaseArray a, object other, int op)
# x * y, which for a sparse matrix of SciPy is the matrix product.
cdef object times(PyObject* x, PyObject* y)
# An operation that met what is no real number: done where it is complex, else NotImplemented.
cdef object of_complex(int code, PyObject* x, PyObject* y)


cdef inline object apply1(int code, PyObject* x):
    return operate(code, 1, &x)


cdef inline object apply2(int code, PyObject* x, PyObject* y):
    cdef PyObject* operands[2]
    operands[0], operands[1] = x, y
    result = operate(code, 2, operands)
    return of_complex(code, x, y) if result is NotImplemented else result

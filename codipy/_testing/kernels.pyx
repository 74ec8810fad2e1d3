# SPDX-License-Identifier: Apache-2.0
"""The generated C kernels for Python: for tests, and to look up one derivative by hand."""

from codipy.operations.kernels cimport (
    OP_COUNT, op_arity, op_partial_any, op_partials_any, op_python_value, op_second_any, op_value_any,
)

from codipy.operations.table import BY_NAME

__all__ = ["arity", "count", "partial", "partials", "python_value", "second", "value"]


cdef int _code(name) except -1:
    """The code of a row given by name or code."""
    cdef int code = BY_NAME[name].code if isinstance(name, str) else name
    if not 0 <= code < OP_COUNT:
        raise KeyError(f"no operation has the code {code}, they end at {OP_COUNT - 1}")
    return code


cdef int _arguments(int code, tuple arguments, double* a) except -1:
    """The arguments of an operation as three doubles."""
    cdef int k
    if len(arguments) != op_arity(code):
        raise TypeError(f"the operation takes {op_arity(code)} arguments, got {len(arguments)}")
    for k in range(3):
        a[k] = arguments[k] if k < op_arity(code) else 0.0
    return 0


def count():
    """Return the number of operations that were compiled."""
    return OP_COUNT


def arity(name):
    """Return the number of arguments of an operation, given by name or code."""
    return op_arity(_code(name))


def python_value(name):
    """Return whether the value that is recorded comes from Python rather than from C."""
    return bool(op_python_value[_code(name)])


def value(name, *arguments):
    """Return the C value of an operation."""
    cdef double a[3]
    cdef int code = _code(name)
    _arguments(code, arguments, a)
    return op_value_any(code, a[0], a[1], a[2])


def partial(name, int argument, double value, *arguments):
    """Return the first partial in one argument, `value` being the operation's value there."""
    cdef double a[3]
    cdef int code = _code(name)
    _arguments(code, arguments, a)
    return op_partial_any(code, argument, a[0], a[1], a[2], value)


def partials(name, double value, *arguments):
    """Return all first partials, `value` being the operation's value there."""
    cdef double a[3]
    cdef double p[3]
    cdef int code = _code(name)
    _arguments(code, arguments, a)
    op_partials_any(code, a[0], a[1], a[2], value, p)
    return tuple([p[k] for k in range(op_arity(code))])


def second(name, double value, *arguments):
    """Return the second partials xx, xy, yy, xz, yz, zz as far as the arity goes."""
    cdef double a[3]
    cdef double h[6]
    cdef int code = _code(name), n = op_arity(code)
    _arguments(code, arguments, a)
    op_second_any(code, a[0], a[1], a[2], value, h)
    return tuple([h[k] for k in range(n * (n + 1) // 2)])

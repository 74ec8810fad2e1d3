# SPDX-License-Identifier: Apache-2.0
"""NumPy functions in graphs of PyTensor, which PyMC samples from."""
from __future__ import annotations

import numpy as np

from codipy.bridges.needed import needed
from codipy.tools.callee import check_function, name_of
from codipy.tools.derivatives.products import vjp

__all__ = ["to_pytensor"]


def to_pytensor(f, result):
    """A NumPy function as an operation of PyTensor, with its derivative.

    Parameters
    ----------
    f : callable
        ``f(*arrays)`` returns a number or an array of floats.
    result : TensorType
        The type of what it returns, as ``pytensor.tensor.dscalar`` or ``pytensor.tensor.dvector``.

    Returns
    -------
    pytensor.graph.op.Op
        Takes variables of floats and returns one of that type.

    Raises
    ------
    ImportError
        PyTensor is not installed.
    NotImplementedError
        From PyTensor, where the derivative itself is differentiated.

    Examples
    --------
    >>> import codipy.bridges
    >>> import pytensor, pytensor.tensor as pt  # doctest: +SKIP
    >>> x = pt.dvector()  # doctest: +SKIP
    >>> y = codipy.bridges.to_pytensor(lambda x: (x**3).sum(), pt.dscalar)(x)  # doctest: +SKIP
    >>> pytensor.function([x], pytensor.grad(y, x))([1.0, 2.0])  # doctest: +SKIP
    array([ 3., 12.])
    """
    check_function(f, "bridges.to_pytensor")
    tensor = needed("pytensor.tensor", "pytensor", "to_pytensor")
    graph = needed("pytensor.graph.basic", "pytensor", "to_pytensor")
    ops = needed("pytensor.graph.op", "pytensor", "to_pytensor")

    class Pulled(ops.Op):
        """The cotangents of all arguments."""

        def make_node(self, *inputs):
            inputs = [tensor.as_tensor_variable(x) for x in inputs]
            return graph.Apply(self, inputs, [x.type() for x in inputs[1:]])

        def perform(self, node, inputs, outputs):
            seed, *arrays = inputs
            found, pull = vjp(f, *map(np.array, arrays))
            cotangents = pull(np.asarray(seed, np.asarray(found).dtype) if np.ndim(found) else float(seed))
            for place, cotangent, x in zip(outputs, cotangents, arrays):
                place[0] = np.asarray(cotangent, x.dtype)

    class Function(ops.Op):
        __doc__ = f"{name_of(f)} with the derivative that codipy finds."

        def make_node(self, *inputs):
            inputs = [tensor.as_tensor_variable(x) for x in inputs]
            for x in inputs:
                if not x.dtype.startswith("float"):
                    raise TypeError(f"an argument of {name_of(f)} has the dtype {x.dtype}, and all must be floats: "
                                    "bind the others, functools.partial")
            return graph.Apply(self, inputs, [result()])

        def perform(self, node, inputs, outputs):
            outputs[0][0] = np.asarray(f(*map(np.array, inputs)), node.outputs[0].dtype)

        def L_op(self, inputs, outputs, output_gradients):
            found = pulled(output_gradients[0], *inputs)
            return found if isinstance(found, list) else [found]

        pullback = L_op      # its name in newer versions

    pulled = Pulled()
    return Function()

# SPDX-License-Identifier: Apache-2.0
"""`out` without axes: of a scalar of its own NumPy gives a scalar, of what else an argument may be, `out` itself."""

import numpy as np
import pytest

import codipy

KINDS = {"float": lambda x: float(x[1]), "element": lambda x: x[1] * 1.0, "sum": np.sum, "array": lambda x: x * 1.0,
         "flat array": lambda x: np.array(x[1] * 1.0)}  # fmt: skip
COMPLEX = KINDS | {"float": lambda x: complex(x[1])}
BY_METHODS = {name: getattr(np, name) for name in (
    "sum", "prod", "max", "min", "mean", "std", "var", "amax", "amin", "all", "any")}  # fmt: skip
USES = BY_METHODS | {name: getattr(np, name) for name in ("median", "ptp", "nansum", "nanmax")} | {
    "take": lambda x, out: np.take(x, 1 if np.ndim(x) else 0, out=out),
    "dot": lambda x, out: np.dot(np.ravel(x)[0], 2.0, out=out),
    "multi_dot": lambda x, out: np.linalg.multi_dot((np.ravel(x)[0], 2.0), out=out),
    "add.reduce": np.add.reduce,
}


REAL = ("nanmax", "median", "std", "var")  # of complex numbers these are refused


def found(use, x, kind, out):
    result = use(kind(x), out=out)
    value = codipy.value(result)
    return result is out, type(value), value.dtype, value.tobytes(), codipy.value(out).tobytes()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("numbers", ["real", "complex"])
def test_what_is_returned_and_written(use, numbers):
    x = np.array([0.3, 0.5, 0.7]) + (0.0 if numbers == "real" else 0.1j)
    for name, kind in (KINDS if numbers == "real" else COMPLEX).items():
        if use == "add.reduce" and name == "array" or use in REAL and numbers == "complex":
            continue
        seen = []

        def f(x, kind=kind, seen=seen):
            seen.append(found(USES[use], x, kind, np.zeros((), x.dtype)))
            return np.sum(x).real

        f(x)
        codipy.grad(f)(x)
        assert seen[0] == seen[1], name

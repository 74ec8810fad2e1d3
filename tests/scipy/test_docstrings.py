# SPDX-License-Identifier: Apache-2.0
"""SciPy's own examples, of the modules whose tests do not run them: SciPy's bits, and derivatives of differences.

What is not differentiated must be refused by name.
"""

import importlib

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.scipy.docstrings import calls_in, check_call

MODULES = ("fft", "integrate", "interpolate", "linalg", "sparse", "sparse.linalg", "spatial.distance")
# What is no question of bits, or of differences.
LEFT_OUT = {
    "integrate.odeint": "forward and reverse integrate other equations, each within the tolerances",
    "integrate.qmc_quad": "the example is of a function that takes no array",
    "interpolate.pchip_interpolate": "its example takes a second",
    "integrate.tplquad": "its example takes a second",
    "integrate.romb": "it prints",
    "interpolate.barycentric_interpolate": "takes the points in an order that is random",
    "linalg.qr": "the example is of a whole Q, which has no derivative",
    "linalg.matmul_toeplitz": "its example takes a second",
    "linalg.svdvals": "all singular values of the example are equal",
    "sparse.linalg.bicgstab": "iterates that are far from the solution, of which the derivative is",
    "sparse.linalg.tfqmr": "the same",
    "sparse.linalg.eigsh": "all eigenvalues of the example are equal, and it begins at random",
    "sparse.linalg.svds": "the same: signs of vectors differ",
    "spatial.distance.squareform": "a step in a direction of its own leaves a matrix that is not symmetric",
}
SKIPPED = {"sparse.linalg.lsmr", "sparse.linalg.lsqr"}      # what they tell of the iterations is left out of the result


def _names(module):
    library = importlib.import_module(f"scipy.{module}")
    for name in library.__all__:
        original = getattr(library, name)
        if callable(original) and not isinstance(original, type) and f"{module}.{name}" not in {*LEFT_OUT, *SKIPPED}:
            yield name


def _ours(module):
    found = codipy.scipy
    for part in module.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module):
    library, ours, checked = importlib.import_module(f"scipy.{module}"), _ours(module), 0
    for name in _names(module):
        for args, kwargs in calls_in(library, name)[:1]:
            try:
                check_call(ours, name, args, kwargs)
                checked += 1
            except (ActiveError, np.linalg.LinAlgError) as error:
                assert name in str(error), f"{module}.{name}: {error}"
            except Exception as error:
                raise AssertionError(f"{module}.{name}: {error}") from error
    assert checked >= 10


@pytest.mark.parametrize("name", sorted({*LEFT_OUT, *SKIPPED}))
def test_what_is_left_out_is_there(name):
    module, _, function = name.rpartition(".")
    assert function in importlib.import_module(f"scipy.{module}").__all__

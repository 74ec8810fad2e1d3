# SPDX-License-Identifier: Apache-2.0
"""``scipy.special`` as `codipy.scipy` and rebound code have it: what cannot take active values says so.

Its ufuncs find their way from the arrays that they get, and from lists. Its Python functions make arrays of what they
get first: an array of objects of a Real, which SciPy's compiled loops refuse in words that name neither the Real nor a
way out.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.special

from codipy.errors import ActiveError
from codipy.numpy.arguments import holds_active
from codipy.numpy.lists import listed
from codipy.numpy.modules import module_for
from codipy.scipy import gammas, normalised, spherical, zetas

__all__ = ["FUNCTIONS", "special"]


def _function(name, original):
    @functools.wraps(original)
    def function(*args, **kwargs):
        try:
            return original(*args, **kwargs)
        except ActiveError:
            raise
        except (TypeError, ValueError) as error:
            if not (holds_active(args) or holds_active(kwargs)):
                raise
            if isinstance(error, ValueError) and "object arrays" not in str(error):
                raise
            raise ActiveError(f"scipy.special.{name}: codipy has no derivative for it here: take `codipy.value(x)` "
                              "where none is wanted") from error  # fmt: skip

    return function


def _is_python(value):
    return callable(value) and not isinstance(value, (np.ufunc, type))


# What stands for the functions of scipy.special; all else there is SciPy's.
FUNCTIONS = {
    name: _function(name, getattr(scipy.special, name))
    for name in scipy.special.__all__
    if _is_python(getattr(scipy.special, name))
} | normalised.FUNCTIONS | gammas.FUNCTIONS | zetas.FUNCTIONS | spherical.FUNCTIONS
FUNCTIONS |= {name: listed(ufunc) for name, ufunc in vars(scipy.special).items() if isinstance(ufunc, np.ufunc)}
special = module_for(scipy.special, FUNCTIONS)

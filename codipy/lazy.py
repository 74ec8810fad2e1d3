# SPDX-License-Identifier: Apache-2.0
"""The public names that are imported when they are first asked for, so that `import codipy` stays cheap."""

import importlib
import sys

from codipy.active.doors import find_later
from codipy.active.scalar.functions import extend_later

_MODULES = ["cmath", "bridges", "implicit", "laboratory", "math", "numpy", "scipy", "testing", "tools"]
_PLACES = {
    "complexes.array": ["ComplexArray"],
    "complexes.scalar": ["Complex"],
    "files": ["load_tape"],
    "laboratory": ["debug", "predict", "profile", "study", "timeline"],
    "numpy.primitive": ["Primitive"],
    "patterns": ["Sparsity"],
    "testing": ["check_derivatives"],
    "tools": ["clear_tapes", "compare", "grad", "gradient_and_hvp", "hessian", "hessian_sparsity", "hvp", "jacobian",
              "jvp", "linearize", "primitive", "sparsity", "taylor", "value", "value_and_grad", "vjp"],
    "tools.derivatives.optimization": ["problem"],
    "tools.derivatives.preaccumulate": ["preaccumulate"],
    "tools.rebind": ["rebind"],
    "tools.threads": ["get_num_threads", "set_num_threads"],
}
_PLACE = {name: place for place, names in _PLACES.items() for name in names}

# math.log(x, base) as a method of Real, and its like.
extend_later(lambda: importlib.import_module("codipy.math"))
find_later(lambda: {**importlib.import_module("codipy.numpy.doors").DOORS, "save": _save, "complexes": _complexes,
                     "nested": _nested, "rebuilt": _rebuilt, "recorded": _recorded, "by operator": _by_operator,
                     "with adjoint": _with_adjoint, "iterates": _iterates, "effects": _effects, "undone": _undone,
                     "computed": _computed, "returned": _returned})


def _by_operator(*args):
    return importlib.import_module("codipy.implicit.operators").solution_by_operator(*args)


def _with_adjoint(*args):
    return importlib.import_module("codipy.implicit.operators").with_adjoint(*args)


def _iterates(*args):
    return importlib.import_module("codipy.implicit.iterates").Iterates(*args)


def _effects(given):
    functions = importlib.import_module("codipy.implicit.handed").functions_of(given)
    return importlib.import_module("codipy.implicit.effects").Effects(*functions)


def _returned(*args):
    return importlib.import_module("codipy.implicit.returned").Returned(*args)


def _computed(*args):
    importlib.import_module("codipy.implicit.kept").demand_computed(*args)


def _undone(*args):
    return importlib.import_module("codipy.implicit.state").undone(*args)


def _complexes():
    return importlib.import_module("codipy.complexes.doors")


def _rebuilt():
    importlib.import_module("codipy.tools.rebinding.replacements")


def _save(*args):
    importlib.import_module("codipy.files").save(*args)


def _nested(*args):
    return importlib.import_module("codipy.nested.taped").NestedRecording(*args)


def _recorded(*args):
    return importlib.import_module("codipy.nested.taped").RecordedAdjoints(*args)


def __getattr__(name):
    if name in _MODULES:
        value = importlib.import_module(f"codipy.{name}")
    elif name in _PLACE:
        value = getattr(importlib.import_module(f"codipy.{_PLACE[name]}"), name)
    else:
        raise AttributeError(f"module 'codipy' has no attribute {name!r}")
    setattr(sys.modules["codipy"], name, value)  # asked for once
    return value


def __dir__():
    return sorted({*vars(sys.modules["codipy"]), *_MODULES, *_PLACE})

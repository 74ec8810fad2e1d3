# SPDX-License-Identifier: Apache-2.0
"""Reverse-mode automatic differentiation of Python code on chunked data streams."""
from codipy.active import Adjoints as Adjoints
from codipy.active import Real as Real
from codipy.active import Tape as Tape
from codipy.active.array import Array as Array
from codipy.lazy import __dir__ as __dir__
from codipy.lazy import __getattr__ as __getattr__
from codipy.tape import active_tape as active_tape
from codipy.tape import passive as passive
from codipy.version import __version__ as __version__

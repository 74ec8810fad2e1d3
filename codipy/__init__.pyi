# SPDX-License-Identifier: Apache-2.0
"""Reverse-mode automatic differentiation of Python code on chunked data streams."""

from codipy import implicit as implicit
from codipy import math as math
from codipy import numpy as numpy
from codipy import scipy as scipy
from codipy import testing as testing
from codipy import tools as tools
from codipy.active import Adjoints as Adjoints
from codipy.active import Real as Real
from codipy.active import Tape as Tape
from codipy.active.array import Array as Array
from codipy.numpy.primitive import Primitive as Primitive
from codipy.patterns import Sparsity as Sparsity
from codipy.tape import active_tape as active_tape
from codipy.tape import passive as passive
from codipy.testing import check_derivatives as check_derivatives
from codipy.tools import clear_tapes as clear_tapes
from codipy.tools import compare as compare
from codipy.tools import grad as grad
from codipy.tools import gradient_and_hvp as gradient_and_hvp
from codipy.tools import hessian as hessian
from codipy.tools import hessian_sparsity as hessian_sparsity
from codipy.tools import hvp as hvp
from codipy.tools import jacobian as jacobian
from codipy.tools import jvp as jvp
from codipy.tools import linearize as linearize
from codipy.tools import primitive as primitive
from codipy.tools import sparsity as sparsity
from codipy.tools import taylor as taylor
from codipy.tools import value as value
from codipy.tools import value_and_grad as value_and_grad
from codipy.tools import vjp as vjp
from codipy.tools.rebind import rebind as rebind
from codipy.tools.threads import get_num_threads as get_num_threads
from codipy.tools.threads import set_num_threads as set_num_threads
from codipy.version import __version__ as __version__

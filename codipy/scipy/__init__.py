# SPDX-License-Identifier: Apache-2.0
"""All of SciPy, imported when it is first asked for."""
from codipy.scipy.namespace import __dir__, __getattr__

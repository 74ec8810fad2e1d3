# SPDX-License-Identifier: Apache-2.0
"""Looking for what goes wrong in a recording: non-finite numbers, lost dependences, cancelled adjoints."""
from codipy.laboratory.trouble.debugging import debug as debug
from codipy.laboratory.trouble.report import Finding as Finding
from codipy.laboratory.trouble.report import Troubles as Troubles

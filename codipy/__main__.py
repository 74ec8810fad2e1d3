# SPDX-License-Identifier: Apache-2.0
"""Makes ``python -m codipy`` the same as the command ``codipy``."""
import sys

from codipy.cli import main

sys.exit(main())

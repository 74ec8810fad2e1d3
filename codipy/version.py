# SPDX-License-Identifier: Apache-2.0
"""The version, in one place for the package, the command and the installer."""

__version__ = "0.1.0"

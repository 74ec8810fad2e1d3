# SPDX-License-Identifier: Apache-2.0
# Marks codipy.tools as a package whose declarations can be cimported.

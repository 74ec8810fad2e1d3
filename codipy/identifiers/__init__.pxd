# SPDX-License-Identifier: Apache-2.0
# Marks codipy.identifiers as a package whose declarations can be cimported.

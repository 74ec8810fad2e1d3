# SPDX-License-Identifier: Apache-2.0
# Marks codipy.data as a package whose declarations can be cimported.

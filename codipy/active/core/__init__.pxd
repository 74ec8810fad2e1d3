# SPDX-License-Identifier: Apache-2.0
# Marks the folder as a Cython package.

# SPDX-License-Identifier: Apache-2.0
"""Active complex numbers: an array of them is one real Array with an axis more, the real and the imaginary part."""

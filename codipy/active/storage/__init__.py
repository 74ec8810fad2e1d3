# SPDX-License-Identifier: Apache-2.0
"""What views of one array share: values, identifiers; shapes and strides over them."""

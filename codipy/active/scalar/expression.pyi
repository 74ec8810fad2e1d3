# SPDX-License-Identifier: Apache-2.0
"""The slow paths of expressions, for Cython only."""

def meet_complex(kind: type) -> None: ...

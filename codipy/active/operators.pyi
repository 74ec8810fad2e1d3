# SPDX-License-Identifier: Apache-2.0
"""The operators of arrays."""

from collections.abc import Callable

def learn_temporaries(add_temporaries: Callable[[], object], add_variables: Callable[[], object]) -> None: ...

# SPDX-License-Identifier: Apache-2.0
"""Random calls of NumPy's functions: `python -m tests.fuzz --calls` runs more, and prints what is wrong."""

import pytest

from tests.fuzz.called import judge_call
from tests.fuzz.functions import KINDS, write_call

CALLS, SEED = 150, "s3"


@pytest.mark.parametrize("kind", KINDS)
def test_random_calls(kind):
    refused = 0
    for k in range(CALLS):
        call = write_call(f"{SEED}:{k}", kind)
        finding = judge_call(call)
        assert finding is None or finding.refused, f"{SEED}:{k} {finding.kind}: {finding.said}\n{call.source}"
        refused += finding is not None
    assert refused <= 0.25 * CALLS  # of complex numbers more than of real ones

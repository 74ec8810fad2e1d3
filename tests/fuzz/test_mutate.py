# SPDX-License-Identifier: Apache-2.0
"""Every mistake that `python -m tests.fuzz.mutate` puts back has its place in the code as it is."""

import pytest

from tests.fuzz.mutate import MISTAKES, ROOT, misplaced


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_can_be_put_back(name):
    mistake = MISTAKES[name]
    assert not misplaced(mistake)
    assert not mistake.tests or (ROOT / mistake.tests).is_file()

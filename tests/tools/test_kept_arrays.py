# SPDX-License-Identifier: Apache-2.0
"""Arrays whose memory a library keeps or writes to stay NumPy's own, or are not written to any more."""

import pytest

import codipy
from codipy.errors import ActiveError
from tests.tools.filled import check, maker




@pytest.fixture
def user_module(tmp_path, monkeypatch):
    return maker(tmp_path, monkeypatch)


@pytest.mark.parametrize("program", KEPT_BY)
def test_an_array_that_has_to_stay_numpys_is_left_alone(program, user_module):
    module = user_module([(program,)], KEEPING)
    check(module, "f0", "auto")
    kept = [*module.KEPT, *module.CACHE.values(), getattr(module.OWNER, "u", None)]
    assert not any(isinstance(u, codipy.Array) for u in kept)


UNSEEN = KEEPING + """
import array
import scipy.sparse.linalg
MAKERS = [csr, memoryview, np.asarray]
def matrix(make, u): return make((u, PLACES, PLACES5))
"""


@pytest.mark.parametrize("given", ["a = matrix(MAKERS[0], u)", "a = MAKERS[1](u)"])
def test_what_a_library_keeps_unseen_is_not_written_to(given, user_module):
    module = user_module([("u = U0.copy(); u[2] = 1.0", given, fill, "return p * (u.sum() + a.sum())")
                          for fill in ("u[1] = 5.0", "u *= 2.0", "u[1:] = p", "u.sort()", "np.copyto(u, U0)", "u.put(0, p)",
                                       "np.sin(u, out=u)", "w = u.T; w[0] = p", "u.fill(2.0)")], UNSEEN)  # fmt: skip
    for name in [name for name in vars(module) if name[0] == "f" and name[1:].isdigit()]:
        with pytest.raises(ActiveError, match="would not be seen by a library"):
            codipy.grad(getattr(module, name))(0.7)


@pytest.mark.parametrize("given", ["a = matrix(MAKERS[0], u); s = a.sum(); del a",
                                   "a = matrix(MAKERS[0], u.copy()); s = a.sum()",
                                   "a = MAKERS[1](u); s = a[2]; a.release()",
                                   "s = bytes(u)[0] + array.array('d', u)[0]"])  # fmt: skip
def test_what_a_library_no_longer_has_can_be_written_to(given, user_module):
    module = user_module([("u = U0.copy(); u[2] = 1.0", given, "u[1] = 5.0", "return p * s * u.sum()")], UNSEEN)
    assert check(module, "f0", "auto")


@pytest.mark.parametrize("number", ["'1.5'", "b'2'", "None", "decimal.Decimal('0.3')", "fractions.Fraction(1, 3)",
                                    "np.array(2)", "True"])  # fmt: skip
def test_an_element_is_set_to_what_numpy_takes_for_a_number(number, user_module):
    module = user_module([("u = U0.copy(); u[1] = p", f"u[0] = {number}", "return np.nansum(u)")],
                         "import decimal, fractions\n")  # fmt: skip
    assert check(module, "f0", "auto")


def test_what_is_no_number_raises_numpys_error(user_module):
    module = user_module([("u = U0.copy(); u[1] = p", f"try: u[0] = {value}",
                           "except (TypeError, ValueError) as error: SEEN.append((type(error), str(error)))",
                           "return u.sum()") for value in ("'x'", "1j", "b''")], "SEEN = []\n")  # fmt: skip
    for name in ("f0", "f1", "f2"):
        module.SEEN.clear()
        check(module, name, "auto")
        assert len(module.SEEN) == 4
        assert len(set(module.SEEN)) == 1

# SPDX-License-Identifier: Apache-2.0
"""The rules of numpy.fft: every transform, on real and complex data, cut and filled up, odd and even lengths."""

import numpy as np
import pytest

from codipy.numpy.rules.fft import PRIMITIVES

from .checking import check, dot

NORMS = [None, "backward", "ortho", "forward"]
LINES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
GRIDS = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
REAL_ONLY = {"rfft", "ihfft", "rfft2", "rfftn"}


def data(shape, kind):
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if kind == "complex" else x


def cases(names):
    return [(name, kind) for name in names for kind in ("real", "complex") if kind == "real" or name not in REAL_ONLY]


def test_every_transform_has_a_rule():
    transforms = {f"fft.{name}" for name in np.fft.__all__} - {
        "fft.fftshift",
        "fft.ifftshift",
        "fft.fftfreq",
        "fft.rfftfreq",
    }
    assert set(PRIMITIVES) == transforms == {f"fft.{name}" for name in LINES + GRIDS}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("length", [2, 5, 6])
@pytest.mark.parametrize(("name", "kind"), cases(LINES))
def test_lines(name, kind, length, norm):
    check(PRIMITIVES[f"fft.{name}"], (data(length, kind),), {"norm": norm})


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8, 12])
@pytest.mark.parametrize(("name", "kind"), cases(LINES))
def test_lines_cut_and_filled_up(name, kind, n):
    check(PRIMITIVES[f"fft.{name}"], (data((3, 5), kind),), {"n": n})
    check(PRIMITIVES[f"fft.{name}"], (data((5, 3), kind), n, 0, "ortho"), argnums=[0])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("name", "kind"), cases(GRIDS))
def test_grids(name, kind, norm):
    check(PRIMITIVES[f"fft.{name}"], (data((3, 4, 5), kind),), {"norm": norm})


@pytest.mark.parametrize(
    "options",
    [
        {"axes": (0, 1)},
        {"axes": (2, 0)},
        {"axes": (-1,)},
        {"axes": [1, -1]},
        {"s": (2, 7), "axes": (1, 2)},
        {"s": (6, 3), "axes": (2, 0), "norm": "ortho"},
        {"s": (-1, 6), "axes": (0, 1), "norm": "forward"},
    ],
)
@pytest.mark.parametrize(("name", "kind"), cases(GRIDS))
def test_grids_along_axes(name, kind, options):
    check(PRIMITIVES[f"fft.{name}"], (data((3, 4, 5), kind),), options)


def test_all_axes_cut_and_filled_up():
    for name, kind in cases(["fftn", "rfftn", "irfftn", "ifftn"]):
        check(PRIMITIVES[f"fft.{name}"], (data((3, 4, 5), kind),), {"s": (4, 2, 6), "axes": (0, 1, 2)})


def test_a_real_loss_has_the_cotangent_that_a_descent_step_takes():
    """Parseval: the loss sum |fft(x)|^2 is n sum x^2, with the gradient 2 n x."""
    x = data(6, "complex")
    z = np.fft.fft(x)
    (bar,) = PRIMITIVES["fft.fft"].vjp(2 * z, z, (x,), {}, (0,))
    np.testing.assert_allclose(bar, 2 * 6 * x)
    assert dot(bar, -bar) < 0

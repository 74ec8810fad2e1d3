# SPDX-License-Identifier: Apache-2.0
"""Functions that cross to PyTorch and back, against PyTorch's own derivatives."""

import numpy as np
import pytest

import codipy
import codipy.bridges
from tests.strategies import each_strategy

torch = pytest.importorskip("torch")


def filled(x, k):
    work = np.zeros(x.size)
    work[:] = k * np.sin(x)
    work[0] = x[1] * x[2]
    return work, np.sum(work**2)


def the_same(x, k):
    work = torch.cat([(x[1] * x[2])[None], k * torch.sin(x[1:])])
    return work, (work**2).sum()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_to_torch(dtype):
    found = []
    for f in (codipy.bridges.to_torch(filled), the_same):
        x = torch.linspace(0.1, 1.0, 5, dtype=dtype, requires_grad=True)
        k = torch.tensor(1.3, dtype=dtype, requires_grad=True)
        work, total = f(x, k)
        (total + (work * torch.arange(5)).sum()).backward()
        found.append((x.grad, k.grad))
    for ours, theirs in zip(*found):
        assert ours.dtype == theirs.dtype and torch.allclose(ours, theirs, rtol=1e-5)


def test_what_has_no_gradient():
    f = codipy.bridges.to_torch(lambda x, n: x * n)
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert torch.equal(torch.autograd.grad(f(x, 3).sum(), x)[0], torch.full((3,), 3.0, dtype=torch.float64))
    assert not f(x.detach(), 3).requires_grad


def test_second_derivatives():
    found = []
    for f in (codipy.bridges.to_torch(filled), the_same):
        x = torch.linspace(0.1, 1.0, 5, dtype=torch.float64, requires_grad=True)
        k = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
        work, total = f(x, k)
        first = torch.autograd.grad(total + (work**3).sum() * x[0], (x, k), create_graph=True)
        second = torch.autograd.grad((first[0] ** 2).sum() * first[1], (x, k), create_graph=True)
        third = torch.autograd.grad(second[0].sum() + second[1], (x, k))
        found.append([*first, *second, *third])
    for ours, theirs in zip(*found):
        assert torch.allclose(ours, theirs, rtol=1e-10)


def test_second_derivatives_of_what_comes_from_there_raise():
    smooth = codipy.bridges.from_torch(torch.nn.functional.softplus)
    with pytest.raises(codipy.errors.UndifferentiableError):
        codipy.hessian(lambda x: np.sum(smooth(x)))(np.zeros(2))


@each_strategy
def test_from_torch(strategy):
    f = codipy.bridges.from_torch(the_same)
    x = np.linspace(0.1, 1.0, 5)

    def loss(run):
        def total(x, k):
            work, squares = run(x, k)
            return squares + np.sum(work * np.arange(5.0))

        return total

    ours = codipy.grad(loss(f), (0, 1), strategy=strategy)(x, 1.3)
    expected = codipy.grad(loss(filled), (0, 1))(x, 1.3)
    np.testing.assert_allclose(ours[0], expected[0], rtol=1e-13)
    assert ours[1] == pytest.approx(expected[1])


def test_from_torch_as_it_is_on_plain_numbers():
    f = codipy.bridges.from_torch(torch.exp)
    assert f(1.0) == pytest.approx(np.e) and f(np.ones(2)) == pytest.approx(np.full(2, np.e))
    x = np.ones(2)
    assert not np.shares_memory(codipy.bridges.from_torch(lambda x: x)(x), x)


def test_a_parameter_of_the_module_has_no_derivative_here():
    layer = torch.nn.Linear(3, 1, dtype=torch.float64)
    found = codipy.grad(lambda x: codipy.bridges.from_torch(layer)(x)[0])(np.ones(3))
    assert found == pytest.approx(layer.weight.detach().numpy()[0]) and layer.weight.grad is None


def test_a_tensor_without_axes_is_an_array_without_axes():
    def f(k, x):
        kept = k
        kept *= 2.0
        assert isinstance(k, np.ndarray)
        return np.sum(x) * k

    k, x = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (0.7, [1.0, 2.0]))
    y = codipy.bridges.to_torch(f)(k, x)
    y.backward()
    assert np.allclose([y.item(), k.item(), k.grad.item(), *x.grad], [4.2, 0.7, 6.0, 1.4, 1.4])

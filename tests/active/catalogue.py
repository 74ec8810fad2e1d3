# SPDX-License-Identifier: Apache-2.0
"""NumPy code as people write it, with the traps of views and in-place writes; it runs on any kind of array."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    f: object
    inputs: tuple
    analytic: bool = True       # NumPy extends it to complex numbers: the complex step is a reference

    name = property(lambda self: self.f.__name__)


CASES = []
RNG = np.random.default_rng(20)


def case(*shapes, analytic=True):
    """Enter a function with random inputs of given shapes, all positive."""

    def enter(f):
        CASES.append(Case(f, tuple(RNG.uniform(0.4, 1.6, shape) for shape in shapes), analytic))
        return f

    return enter


# ---- Overlapping writes ----

@case((7,))
def shift_up(u):
    u = u * 1.5
    u[1:] = u[:-1]
    return u * u


@case((7,))
def shift_down_scaled(u):
    u = np.sin(u)
    u[:-1] = u[1:] * u[:-1]
    return u


@case((9,))
def shift_input_itself(u):
    u[2:] = u[:-2] * 3.0
    return u * u


@case((6,))
def reversed_onto_itself(u):
    u = u * u
    u[:] = u[::-1]
    u[:] = u[::-1] * u
    return u


@case((4, 4))
def transpose_onto_itself(a):
    a = a * a
    a += a.T
    a[...] = a.T * 2.0
    a -= a.T * a
    return a


@case((5,))
def steps_overlap(u):
    u = np.exp(u)
    u[::2] = u[2::-1] * 2.0
    u[1::2] += u[:2]
    return u


@case((1500,))
def overlap_across_tiles(u):
    u = u * 2.0
    u[1:] = u[:-1] * u[1:]
    u[:-3] += u[3:]
    return u


@case((40, 70))
def burgers_like(u):
    for _ in range(3):
        un = u.copy()
        u[1:-1, 1:-1] = un[1:-1, 1:-1] - 0.1 * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[1:-1, :-2]) + 0.05 * (
            un[2:, 1:-1] - 2.0 * un[1:-1, 1:-1] + un[:-2, 1:-1]
        )
        u[0, :] = 1.0
        u[:, -1] = u[:, -2]
    return u


# ---- Views ----

@case((6,))
def write_through_a_view_after_reading_another(u):
    u = u * 1.0
    a, b = u[::2], u[1:4]
    first = a * b
    b[:] = a * 2.0
    second = a * b
    a *= second
    return first + second + u[3:] * a


@case((3, 4))
def views_of_views_after_the_base_died(a):
    def views():
        base = a * a
        return base[1:][:, ::2].T, base[:, 1]

    v, w = views()
    v[0] = v[1] * 3.0
    w[1] *= 5.0
    w += 1.0
    return v * v, np.cos(w)


@case((2, 3, 4))
def dimensions_made_and_dropped(a):
    a = a * 1.5
    b = a[:, None, 0, ::-1]
    b *= 2.0
    c = a[..., 1]
    c[...] = c * c
    a[0, ..., -1] = a[1, 0, 2]
    return a.reshape(6, 4).T[1:3] * 0.5, b


@case((4, 6))
def reshaped_views(a):
    a = a + 0.0
    flat = a.reshape(-1)
    flat[5:11] *= 2.0
    square = a.reshape(2, 2, 6)[:, 1]
    square -= flat[:6]
    copied = a.T.reshape(-1)        # no view: the transpose is not contiguous
    copied[:] = 0.0
    return a, flat * flat, copied


@case((5,), (5,))
def two_names_one_array(u, v):
    w = u
    u *= v
    w += u
    u[1] = w[0]
    return w * v


# ---- Kinds of assignment ----

@case((3, 4), (4,))
def broadcast_writes(a, u):
    z = np.zeros_like(a)
    z[:] = u
    z[1] += u * u
    z[:, 2] = u[1]
    z[:, :1] = a[:, 1:2] * u[0]
    return z * a


@case((6,))
def lists_and_numbers_assigned(u):
    u = u * u
    u[:3] = [u[5], 2.0, u[0]]
    u[3] = 7.0
    u[4:] = 1.5
    u[4] *= u[1] * u[2]
    return u


@case((4, 5))
def indexed_writes(a):
    a = a * a
    a[[0, 2]] = a[[2, 1]] * 2.0
    a[np.array([1, 3]), np.array([0, 4])] = a[0, :2]
    a[a > 1.0] *= 0.5
    a[np.ix_([0, 3], [1, 4])] = a[np.ix_([1, 2], [0, 1])] + 1.0
    a[:, [0, 0]] = a[:, [1, 2]]     # twice the same column: the last one stays
    a[np.array([True, False, True, False]), 1] = a[0, 0]
    return a


@case((5, 3))
def indexed_reads(a):
    rows = a[[4, 0, 0]]
    return rows * a[:3], a[a > 0.9] * 2.0, a[np.array([[0, 1], [2, 2]]), [0, 2]], a[np.ix_([1, 2], [0, 2])] * a[:2, :2]


@case((5,))
def indexed_in_place(u):
    u = u * 1.0
    u[[0, 0, 2]] += u[[1, 2, 3]]        # once for each element, as NumPy
    u[u < 1.0] = u[0]
    return u


@case((8,))
def operators_in_place(u):
    v = u * 1.0
    v += u
    v *= v
    v /= u + 2.0
    v -= 0.25
    v **= 2
    w = v[1:]
    w **= 1.5
    v[0] -= 3.0
    return v


@case((4, 4), (4,))
def matmul_of_views(a, u):
    a = a * a
    y = a @ u
    a[1] = y
    z = a.T[::-1] @ (u * y) + a[:2].T @ y[:2]
    return z, u[1:] @ z[:-1]


@case((3, 3))
def out_into_an_array(a):
    b = np.zeros_like(a)
    np.multiply(a, a.T, out=b)
    np.add(b[1:], b[:-1], out=b[1:])
    np.sin(b[:, ::2], out=b[:, 1:])
    return b


# ---- Elements ----

@case((6,))
def swap_elements(a):
    a = a * a
    for i, j in ((0, 1), (1, 2), (0, 5), (3, 3)):
        t = a[i]
        a[i] = a[j]
        a[j] = t
    a[2], a[4] = a[4], a[2]
    return a * np.arange(1.0, 7.0)


@case((6,))
def element_read_then_overwritten(a):
    a = np.cos(a)
    t, s = a[2], a[3]
    a[2] = t * s
    a[3] = 0.0
    a *= 2.0
    u = a[2]
    a[:] = 1.0
    return t * s * u, a + t


@case((5,))
def cumulative_by_element(a):
    out = np.zeros_like(a)
    total = 0.0
    for i in range(5):
        total = total + a[i] * a[i]
        out[i] = total * a[i - 1]
    return out * a


@case((4, 5))
def double_loop(a):
    z = np.empty_like(a)
    for i in range(4):
        for j in range(5):
            z[i, j] = a[i, j] * a[i - 1, j] - 0.5 * a[i, j - 1]
    z[1:-1] += z[:-2] * a[2:]
    for i in range(4):
        z[i, i] += z[i, i - 1]
    return z * z


@case((12,))
def many_elements_of_a_clean_array(a):
    a = a * 2.0
    for i in range(1, 12):
        a[i] = a[i - 1] * a[i]
        if i % 4 == 0:
            a[:i] *= 0.5
    return a


@case((40,))
def few_elements_of_a_large_array(a):
    a = a * 2.0
    a[3] = a[2] * a[4]
    a[-1] = a[0]
    b = a * a
    a[3] += b[3]
    return b, a


@case((4,))
def rows_of_elements(a):
    z = np.zeros((3, 4)) * a
    z[0, 0] = a[1]
    row = z[0]
    row[2] = a[3] * a[0]
    z[1] = z[0] * 2.0 + a
    z[2, ::2] = z[1, :2]
    return z, row * row


@case((3,), (3,))
def iterated_and_stacked(u, v):
    total = [x * y for x, y in zip(u, v)]
    return np.stack([u * v, v]), np.concatenate([u[::-1], v * u[0]]) * total[1], total[0] + total[2]


# ---- Pending expressions ----

@case((6,))
def operand_overwritten_before_it_is_computed(u):
    u = u * 1.0
    pending = u * u + 1.0
    u[:] = 3.0
    again = pending * u
    u[2:4] = again[:2]
    late = pending[1:] * 2.0
    return pending, late, u


@case((6,))
def element_of_an_operand_overwritten(u):
    u = u * 1.0
    pending = np.sin(u) * u
    other = pending
    u[1] = 2.0
    u[2] = u[3]
    return pending + u, other


@case((5,))
def kept_expressions(u):
    kept = [u]
    for k in range(6):
        kept.append(kept[-1] * u + float(k))
        u[k % 5] = kept[k][k % 5]
    return tuple(kept[1:])


@case((5,))
def plain_operand_changed(u):
    p = np.arange(5.0)
    y = u * p
    p[:] = 100.0
    return y * p


@case((5,))
def same_expression_many_times(u):
    e = u * u
    return e * e * e, e + u, e[1:] * e[:-1], np.sum(e) * e[0]


@case((4,))
def numbers_in_expressions(u):
    s = u[0] * u[1]
    t = s * 2.0
    y = u * s + t
    u[0] = t
    return y * t, s * u


# ---- Reductions, choices ----

@case((3, 4))
def sums(a):
    return np.sum(a * a), np.sum(a, axis=0) * a, a.sum(axis=1) ** 2, np.sum(np.sum(a[1:], axis=1)) * a[0, 0]


@case((6,), analytic=False)
def choices(u):
    v = np.where(u > 1.0, np.sqrt(u), u * u)
    v[v > 1.0] = 0.0
    return np.maximum(v, 0.6) * abs(u - 1.0), np.minimum(u, v)


@case((6,))
def dropped_intermediates(u):
    for k in range(12):
        v = u * 0.5
        w = v[1:] * v[:-1]
        u[1:] = w + u[:-1]
        if k % 3 == 0:
            u[k % 6] = w[2]
    return u


# ---- Shapes that are easily forgotten ----

@case((0,), (3,))
def nothing(e, u):
    e *= 2.0
    u[3:] = e
    u[u > 100.0] = 1.0
    return np.concatenate([e, u * u]), np.sum(e) + u[0], e * u[:0]


@case((3, 0), (1, 0))
def nothing_in_two_dimensions(a, b):
    a += b
    a[:, :] = b * 2.0
    return a * b, np.sum(a, axis=1)


@case((), (3,))
def zero_dimensional(s, u):
    t = s * 2.0
    u *= s
    return u + t, np.sin(s) * t, u[..., 1] * s


@case((3,))
def zero_dimensional_views(u):
    u = u * 1.0
    v = u[..., 1]
    v[...] = u[0] * 5.0
    v += 1.0
    w = u[:1].reshape(())
    w[()] = 2.0 * u[2]
    return u * u


@case((1,), (1, 1), (4, 1))
def single_elements(u, a, c):
    a[:] = u
    u[0] = a[0, 0] * 2.0
    c[:] = c * u + a
    return c * c[::-1], u, a

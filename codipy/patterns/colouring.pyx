# SPDX-License-Identifier: Apache-2.0
"""Colourings of sparse matrices: columns, or rows, that share no row, or column; and of symmetric ones, stars.

Written from Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph coloring for computing derivatives", SIAM
Review 47 (2005), 629-705, and from Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms",
SIAM Journal on Scientific Computing 29 (2007), 1042-1072.
"""
import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t

from codipy.data.plain import pooled_array


def transposed(const int64_t[::1] ends not None, const int32_t[::1] indices not None, Py_ssize_t columns):
    """The transpose of a pattern in compressed rows; twice, and the indices of each row are sorted."""
    cdef Py_ssize_t rows = ends.shape[0] - 1, i, p
    cdef int64_t[::1] found = np.zeros(columns + 1, np.int64)
    cdef int64_t[::1] at
    cdef int32_t[::1] of = np.empty(indices.shape[0], np.int32)
    for p in range(indices.shape[0]):
        found[indices[p] + 1] += 1
    for i in range(columns):
        found[i + 1] += found[i]
    at = np.array(found)
    for i in range(rows):
        for p in range(ends[i], ends[i + 1]):
            of[at[indices[p]]] = <int32_t>i
            at[indices[p]] += 1
    return found.base, of.base


def distance_two(const int64_t[::1] ends not None, const int32_t[::1] indices not None,
                 const int64_t[::1] column_ends not None, const int32_t[::1] column_indices not None,
                 const int64_t[::1] order not None, Py_ssize_t most):
    """Colours of the columns, in this order: the least that no column with a row in common has.

    Columns without elements have the colour 0 too. None where more than `most` colours would be needed.
    """
    cdef Py_ssize_t columns = column_ends.shape[0] - 1, k, j, p, q, colour, count = 1
    cdef int32_t[::1] colours = np.full(columns, -1, np.int32)
    cdef int32_t[::1] forbidden = np.full(columns + 1, -1, np.int32)
    for k in range(columns):
        j = order[k]
        for p in range(column_ends[j], column_ends[j + 1]):
            for q in range(ends[column_indices[p]], ends[column_indices[p] + 1]):
                if colours[indices[q]] >= 0:
                    forbidden[colours[indices[q]]] = <int32_t>j
        colour = 0
        while forbidden[colour] == j:
            colour += 1
        if colour >= most:
            return None
        colours[j] = <int32_t>colour
        count = max(count, colour + 1)
    return colours.base, count


def star(const int64_t[::1] ends not None, const int32_t[::1] indices not None, const int64_t[::1] order not None):
    """Colours of the rows of a symmetric pattern: neighbours differ, and no path of four has two colours only.

    Every pair of colours then spans stars. Each edge knows its star, and each star its hub, once it has two edges; a
    vertex knows one edge for each colour around it, since of several it is the hub. So a vertex asks its neighbours for
    their colours, not for their neighbours: a row that is full costs no more than its elements times the colours.
    """
    cdef Py_ssize_t n = ends.shape[0] - 1, k, v, w, p, q, e, s, colour, count = 1, entries = 0, stars = 0
    cdef int32_t[::1] colours = np.full(n, -1, np.int32)
    cdef int32_t[::1] forbidden = np.full(n + 1, -1, np.int32)
    cdef int32_t[::1] first = np.full(n + 1, -1, np.int32)      # by colour: the neighbour that showed it first ...
    cdef int32_t[::1] when = np.full(n + 1, -1, np.int32)       # ... to this vertex
    cdef int32_t[::1] treated = np.full(n, -1, np.int32)
    # Entries: the colours around a vertex, as a list of it.
    cdef int32_t[::1] head = np.full(n, -1, np.int32)
    cdef int32_t[::1] following = np.empty(indices.shape[0] + 1, np.int32)
    cdef int32_t[::1] colour_of = np.empty(indices.shape[0] + 1, np.int32)
    cdef int32_t[::1] star_of = np.empty(indices.shape[0] + 1, np.int32)
    cdef int32_t[::1] hub = np.full(indices.shape[0] + 1, -1, np.int32)
    for k in range(n):
        v = order[k]
        for p in range(ends[v], ends[v + 1]):
            w = indices[p]
            if w == v or colours[w] < 0:
                continue
            colour = colours[w]
            forbidden[colour] = <int32_t>v
            if when[colour] == v:        # v would be the hub of two: no colour around either may be its own
                for q in (<Py_ssize_t>first[colour], w):
                    if treated[q] != v:
                        treated[q] = <int32_t>v
                        e = head[q]
                        while e >= 0:
                            forbidden[colour_of[e]] = <int32_t>v
                            e = following[e]
                continue
            when[colour], first[colour] = <int32_t>v, <int32_t>w
            e = head[w]
            while e >= 0:                # w may not be an end of a star that v would make longer
                if hub[star_of[e]] >= 0 and hub[star_of[e]] != w:
                    forbidden[colour_of[e]] = <int32_t>v
                e = following[e]
        colour = 0
        while forbidden[colour] == v:
            colour += 1
        colours[v] = <int32_t>colour
        count = max(count, colour + 1)
        for p in range(ends[v], ends[v + 1]):
            w = indices[p]
            if w == v or colours[w] < 0:
                continue
            e = head[w]
            while e >= 0 and colour_of[e] != colour:
                e = following[e]
            if e >= 0:                   # another neighbour of w has the colour of v
                s = star_of[e]
                hub[s] = <int32_t>w
            else:
                q = head[v]
                while q >= 0 and colour_of[q] != colours[w]:
                    q = following[q]
                if q >= 0:               # v has another neighbour of the colour of w
                    s = star_of[q]
                    hub[s] = <int32_t>v
                else:
                    s = stars
                    stars += 1
                colour_of[entries], star_of[entries], following[entries] = <int32_t>colour, <int32_t>s, head[w]
                head[w] = <int32_t>entries
                entries += 1
                if q >= 0:
                    continue
            colour_of[entries], star_of[entries], following[entries] = colours[w], <int32_t>s, head[v]
            head[v] = <int32_t>entries
            entries += 1
    return colours.base, count


def lone(const int64_t[::1] ends not None, const int32_t[::1] indices not None, const int32_t[::1] colours not None,
         Py_ssize_t count):
    """Of each element whether it is the only one of its row whose column has its colour."""
    cdef Py_ssize_t i, p
    cdef int32_t[::1] seen = np.zeros(count, np.int32)
    cdef unsigned char[::1] found = np.empty(indices.shape[0], np.uint8)
    for i in range(ends.shape[0] - 1):
        for p in range(ends[i], ends[i + 1]):
            seen[colours[indices[p]]] += 1
        for p in range(ends[i], ends[i + 1]):
            found[p] = seen[colours[indices[p]]] == 1
        for p in range(ends[i], ends[i + 1]):
            seen[colours[indices[p]]] = 0
    return found.base.view(bool)


def weights(const double[::1] largest not None, const double[::1] spread not None):
    """About 1 / the largest element of each column, or row, times `spread`; see `Colouring.scaled`."""
    cdef double[::1] found = pooled_array(largest.shape[0])
    cdef Py_ssize_t i
    cdef double most = 0.0, least = INFINITY, middle
    for i in range(largest.shape[0]):
        most = max(most, largest[i])
        least = min(least, largest[i] if largest[i] > 0.0 else INFINITY)
    if not 0.0 < most < INFINITY:
        return np.array(spread)
    middle = sqrt(most) * sqrt(least)
    for i in range(found.shape[0]):
        found[i] = middle / max(largest[i], least) * (1e3 if largest[i] < 0.0 else 1.0) * spread[i]
    return found.base


def refined(const int64_t[::1] ends not None, const int32_t[::1] indices not None, const int32_t[::1] colours not None,
            words, Py_ssize_t parts, const int32_t[::1] first not None):
    """The pattern of groups that were cut into parts, from the one before and the words that a sweep found.

    Bit ``colour * parts + part`` of the words of a row stands for that part of the only group of the colour on which
    the row depends; `first` are the numbers of the groups' first parts.
    """
    cdef Py_ssize_t rows = ends.shape[0] - 1, i, w, p, bit, count = 0, group
    cdef const unsigned long long[:, ::1] table = words
    cdef unsigned long long word
    cdef int64_t[::1] new = np.zeros(rows + 1, np.int64)
    cdef int32_t[::1] of
    cdef int32_t[::1] group_of = np.full(64 * table.shape[0] // parts + 1, -1, np.int32)
    for i in range(rows):
        for w in range(table.shape[0]):
            word = table[w, i]
            while word:
                count += 1
                word &= word - 1
        new[i + 1] = count
    of = np.empty(count, np.int32)
    count = 0
    for i in range(rows):
        for p in range(ends[i], ends[i + 1]):
            group_of[colours[indices[p]]] = indices[p]
        for w in range(table.shape[0]):
            word = table[w, i]
            bit = 64 * w
            while word:
                if word & 1:
                    group = group_of[bit // parts]
                    if group < 0:
                        raise AssertionError(f"row {i} depends on what no group of it contains")
                    of[count] = first[group] + <int32_t>(bit % parts)
                    count += 1
                word >>= 1
                bit += 1
        for p in range(ends[i], ends[i + 1]):
            group_of[colours[indices[p]]] = -1
    return new.base, of.base


def read_off(const double[:, :] table not None, const int64_t[::1] ends not None, const int32_t[::1] indices not None,
             const int32_t[::1] colours not None, const unsigned char[::1] alone, bint by_rows):
    """The elements of a matrix from what each direction gave, and the largest absolute value of each column, or row.

    Element (i, j) is ``table[colours[j], i]``, or by rows ``table[colours[i], j]``; of stars it is the first where `alone`
    says so, else the second. Each row of the table lies side by side. The largest is -1 where there is no element; NaN
    counts as 0.
    """
    cdef Py_ssize_t i, j, p, line, rows = ends.shape[0] - 1, apart = table.strides[0] // <Py_ssize_t>sizeof(double)
    cdef const double* numbers = &table[0, 0]
    cdef double[::1] data = pooled_array(indices.shape[0])
    cdef double[::1] largest = pooled_array(colours.shape[0])
    cdef double value, size
    for i in range(colours.shape[0]):
        largest[i] = -1.0
    for i in range(rows):
        for p in range(ends[i], ends[i + 1]):
            j = indices[p]
            if by_rows or alone is not None and not alone[p]:
                value = numbers[colours[i] * apart + j]
            else:
                value = numbers[colours[j] * apart + i]
            data[p] = value
            size = abs(value) if value == value else 0.0
            line = i if by_rows else j
            largest[line] = max(largest[line], size)
    return data.base, largest.base


def agree(const int64_t[::1] ends not None, const int32_t[::1] indices not None, const double[::1] data not None,
          bint by_rows, const double[::1] direction not None, const double[::1] product not None, double tolerance):
    """Whether the product of a matrix, or of its transpose, with a direction is what was found for it.

    The direction is positive; `tolerance` is relative to the product of the absolute values.
    """
    cdef Py_ssize_t i, p, rows = ends.shape[0] - 1
    cdef double[::1] products, sizes
    cdef double found, size, term
    cdef bint agrees = True
    if not by_rows:
        for i in range(rows):
            found = size = 0.0
            for p in range(ends[i], ends[i + 1]):
                term = data[p] * direction[indices[p]]
                found += term
                size += abs(term)
            agrees &= abs(found - product[i]) <= tolerance * size
        return agrees
    products, sizes = np.zeros(product.shape[0]), np.zeros(product.shape[0])
    for i in range(rows):
        for p in range(ends[i], ends[i + 1]):
            term = data[p] * direction[i]
            products[indices[p]] += term
            sizes[indices[p]] += abs(term)
    for i in range(product.shape[0]):
        agrees &= abs(products[i] - product[i]) <= tolerance * sizes[i]
    return agrees

# SPDX-License-Identifier: Apache-2.0
"""Pending array expressions."""
from libc.string cimport memcmp, memcpy
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_XDECREF, Py_XINCREF
cimport cython

from codipy.operations.kernels cimport op_arity
from codipy.programs.tiles cimport Operand, Step, TileProgram


@cython.final
@cython.no_gc
@cython.freelist(32)
cdef class Pending:
    """Pending()
    --

    Operations on arrays that are not computed yet; made by arrays.
    """
    def __dealloc__(self):
        cdef int k
        for k in range(self.leaf_count):
            Py_XDECREF(self.leaves[k].buffer)
            Py_XDECREF(self.leaves[k].owner)
        if self.leaves != self.few_leaves:
            PyMem_Free(self.leaves)

    cdef int append(self, const Leaf* leaf, int ndim) except -1:
        """Add a leaf, or find it: its number."""
        cdef int k
        cdef Leaf* old = self.leaves
        for k in range(self.leaf_count):
            if (old.data == leaf.data and old.buffer == leaf.buffer and old.owner == leaf.owner
                    and old.identifier == leaf.identifier
                    and (leaf.buffer != NULL or memcmp(&old.number, &leaf.number, sizeof(double)) == 0)
                    and memcmp(old.strides, leaf.strides, ndim * sizeof(Py_ssize_t)) == 0):
                return k
            old += 1
        memcpy(old, leaf, sizeof(Leaf))
        Py_XINCREF(leaf.buffer)
        Py_XINCREF(leaf.owner)
        self.leaf_count += 1
        self.active |= leaf.identifier != 0
        return self.leaf_count - 1

    cdef void load(self, TileProgram* program, Operand* operands, int ndim) noexcept:
        """The program, and its operands' values."""
        cdef int k, a, source
        cdef Leaf* leaf = self.leaves
        for k in range(self.leaf_count):
            operands[k].adjoint = NULL
            if leaf.buffer != NULL:
                operands[k].data = <const char*>leaf.data
                for a in range(ndim):
                    operands[k].strides[a] = leaf.strides[a] * <Py_ssize_t>sizeof(double)
            else:
                operands[k].data = <const char*>&leaf.number
                for a in range(ndim):
                    operands[k].strides[a] = 0
            leaf += 1
        program.operands, program.steps, program.single = self.leaf_count, self.step_count, self.single
        for k in range(self.step_count):
            program.step[k].code = self.steps[k].code
            for a in range(3):
                source = self.steps[k].sources[a] if a < op_arity(self.steps[k].code) else 0
                program.step[k].sources[a] = source if source >= 0 else self.leaf_count - 1 - source


cdef Pending new_pending(int leaves, int steps):
    """With room for so many leaves and steps, of which there are none yet."""
    cdef Pending new = Pending.__new__(Pending)
    if leaves <= FEW and steps <= FEW:
        new.leaves, new.steps = new.few_leaves, new.few_steps
        return new
    new.leaves = <Leaf*>PyMem_Malloc(leaves * sizeof(Leaf) + steps * sizeof(Step))
    if new.leaves == NULL:
        raise MemoryError("no memory for an array expression")
    new.steps = <Step*>(new.leaves + leaves)
    return new

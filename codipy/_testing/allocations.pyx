# SPDX-License-Identifier: Apache-2.0
"""One allocation of this thread fails: for tests of what is left behind then."""

# `_testcapi.set_nomemory` counts the allocations of all threads, so that one of a test runner's may be the one that fails.
# It is C, since a traced build would run Python for each line of an allocator.
cdef extern from *:
    """
    static struct {
        unsigned long thread;
        Py_ssize_t before;       /* allocations that succeed before the one that fails; negative: none fails */
        PyMemAllocatorEx under[3];
    } failing;

    static const PyMemAllocatorDomain failing_domains[3] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};

    static int failing_now(void)
    {
        if (PyThread_get_thread_ident() != failing.thread || failing.before < 0)
            return 0;
        return failing.before-- == 0;
    }

    static void* failing_malloc(void* context, size_t size)
    {
        PyMemAllocatorEx* under = (PyMemAllocatorEx*)context;
        return failing_now() ? NULL : under->malloc(under->ctx, size);
    }

    static void* failing_calloc(void* context, size_t count, size_t size)
    {
        PyMemAllocatorEx* under = (PyMemAllocatorEx*)context;
        return failing_now() ? NULL : under->calloc(under->ctx, count, size);
    }

    static void* failing_realloc(void* context, void* memory, size_t size)
    {
        PyMemAllocatorEx* under = (PyMemAllocatorEx*)context;
        return failing_now() ? NULL : under->realloc(under->ctx, memory, size);
    }

    static void failing_free(void* context, void* memory)
    {
        PyMemAllocatorEx* under = (PyMemAllocatorEx*)context;
        under->free(under->ctx, memory);
    }

    static void failing_begin(Py_ssize_t before)
    {
        int k;
        failing.thread = PyThread_get_thread_ident();
        failing.before = before;
        for (k = 0; k < 3; k++) {
            PyMemAllocatorEx over = {&failing.under[k], failing_malloc, failing_calloc, failing_realloc, failing_free};
            PyMem_GetAllocator(failing_domains[k], &failing.under[k]);
            PyMem_SetAllocator(failing_domains[k], &over);
        }
    }

    static void failing_end(void)
    {
        int k;
        for (k = 0; k < 3; k++)
            PyMem_SetAllocator(failing_domains[k], &failing.under[k]);
    }
    """
    void failing_begin(Py_ssize_t before)
    void failing_end()

cdef bint underway = False


def fail(Py_ssize_t n):
    """Let the allocation of this thread fail that comes after `n` more, once; `restore` must follow."""
    global underway
    if underway:
        raise RuntimeError("an allocation is waiting to fail already: call restore() first")
    underway = True
    failing_begin(n)


def restore():
    """Let allocations be as they were before `fail`; nothing where there was none."""
    global underway
    if underway:
        underway = False
        failing_end()

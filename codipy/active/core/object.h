/* SPDX-License-Identifier: Apache-2.0 */
/* Birth and death of a Real: free lists by size, and the test for temporaries. */
#ifndef CODIPY_OBJECT_H
#define CODIPY_OBJECT_H
#include <Python.h>
#include <string.h>

/* A Real carries room for its pending expression: one entry, a few, or many. The class is chosen when the result is
   made, since its number of arguments is known then. Rejected: room for the most in every Real (312 bytes each), and
   a separate buffer (a second allocation for every operation).
   Under sanitizers every object is its own allocation, or they would see no use after free. */
enum { CODIPY_SIZES = 3 };
static const int codipy_entries_of[CODIPY_SIZES] = {1, 4, 16};

#ifdef __SANITIZE_ADDRESS__
enum { CODIPY_FREE_LIMIT = 0 };
#else
enum { CODIPY_FREE_LIMIT = 256 };
#endif

typedef struct { PyObject *head; int count; } codipy_free_list;
static codipy_free_list codipy_free[CODIPY_SIZES];

/* The link of a free Real lies behind its header, so that a rebirth only sets the reference count. */
#define CODIPY_LINK(object) (*(PyObject **)((object) + 1))

static inline PyObject *codipy_birth(PyTypeObject *type, size_t entry, int size) {
    codipy_free_list *list = &codipy_free[size];
    PyObject *object = list->head;
    if (object == NULL) {
        /* tp_basicsize has room for one entry. */
        object = (PyObject *)PyObject_Malloc((size_t)type->tp_basicsize
                                             + entry * (size_t)(codipy_entries_of[size] - 1));
        if (object == NULL)
            return PyErr_NoMemory();
        /* No weak references, which stays so over deaths and rebirths: a death clears them. */
        memset(object + 1, 0, (size_t)type->tp_basicsize - sizeof(PyObject));
        return PyObject_Init(object, type);
    }
    list->head = CODIPY_LINK(object);
    list->count--;
#ifdef Py_REF_DEBUG
    return PyObject_Init(object, type);
#else
    Py_SET_REFCNT(object, 1);
    return object;
#endif
}

static inline void codipy_death(PyObject *object, int size) {
    codipy_free_list *list = &codipy_free[size];
    if (list->count < CODIPY_FREE_LIMIT) {
        CODIPY_LINK(object) = list->head;
        list->head = object;
        list->count++;
    } else {
        PyObject_Free(object);
    }
}

/* Give the free Reals' memory back; returns how many there were. */
static inline int codipy_clear_free_lists(void) {
    int freed = 0;
    for (int size = 0; size < CODIPY_SIZES; size++) {
        while (codipy_free[size].head != NULL) {
            PyObject *object = codipy_free[size].head;
            codipy_free[size].head = CODIPY_LINK(object);
            PyObject_Free(object);
            freed++;
        }
        codipy_free[size].count = 0;
    }
    return freed;
}

/* Whether only the evaluation stack holds the object. A hint: callers that are not the interpreter (NumPy's object
   loops) pass borrowed references that look the same, so it may decide when to push, never what is computed. */
static inline int codipy_is_temporary(PyObject *object) {
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(object);
#else
    return Py_REFCNT(object) == 1;
#endif
}

/* Hand a new reference to Cython without counting it twice. */
static inline PyObject *codipy_new_reference(PyObject *object) { return object; }
#endif

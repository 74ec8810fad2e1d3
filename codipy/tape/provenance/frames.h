/* SPDX-License-Identifier: Apache-2.0 */
/* The frames that run, without making objects of them, and a fast clock: a profile asks for them at each operation. */
#ifndef CODIPY_FRAMES_H
#define CODIPY_FRAMES_H
#include <Python.h>
#include <frameobject.h>
#include <stdint.h>
#if defined(_M_X64)
#include <intrin.h>
#elif defined(__x86_64__)
#include <x86intrin.h>
#endif

/* What PyEval_GetFrame() and its like would say costs 5 ns for each frame, and an object. So the frames of versions
   that are known are read as they are; of later ones, by those functions. */
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#include <internal/pycore_frame.h>
#if PY_VERSION_HEX < 0x030C0000
#undef _PyGC_FINALIZED /* which that header defines another way */
#include <internal/pycore_pystate.h>
#endif
typedef struct _PyInterpreterFrame codipy_frame;

static inline PyCodeObject *codipy_code(codipy_frame *frame) {
#if PY_VERSION_HEX >= 0x030D0000
    return (PyCodeObject *)frame->f_executable;
#else
    return frame->f_code;
#endif
}

static inline char *codipy_instruction(codipy_frame *frame) {
#if PY_VERSION_HEX >= 0x030D0000
    return (char *)frame->instr_ptr;
#else
    return (char *)frame->prev_instr;
#endif
}

static inline char *codipy_first(PyCodeObject *code) { return (char *)code->co_code_adaptive; }

/* Without those that the interpreter puts between: where C calls it, and where a class is called ("__init__"). */
static inline codipy_frame *codipy_of_python(codipy_frame *frame) {
#if PY_VERSION_HEX >= 0x030C0000
    frame = _PyFrame_GetFirstComplete(frame);
#endif
    return frame;
}

static inline codipy_frame *codipy_previous(codipy_frame *frame) { return codipy_of_python(frame->previous); }

static inline codipy_frame *codipy_top(void) {
#if PY_VERSION_HEX >= 0x030D0000
    return codipy_of_python(PyThreadState_Get()->current_frame);
#elif PY_VERSION_HEX < 0x030C0000
    return _PyThreadState_GET()->cframe->current_frame;
#else
    return codipy_of_python(PyThreadState_Get()->cframe->current_frame);
#endif
}
#else
typedef PyFrameObject codipy_frame;

/* They are alive as long as they run. */
static inline codipy_frame *codipy_borrowed(codipy_frame *frame) {
    Py_XDECREF(frame);
    return frame;
}

static inline PyCodeObject *codipy_code(codipy_frame *frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_DECREF(code);
    return code;
}

/* An instruction is its offset behind the code object here. */
static inline char *codipy_first(PyCodeObject *code) { return (char *)code; }

static inline char *codipy_instruction(codipy_frame *frame) {
#if PY_VERSION_HEX >= 0x030B0000
    return (char *)codipy_code(frame) + PyFrame_GetLasti(frame);
#else
    return (char *)codipy_code(frame) + 2 * frame->f_lasti;
#endif
}

static inline codipy_frame *codipy_previous(codipy_frame *frame) { return codipy_borrowed(PyFrame_GetBack(frame)); }
static inline codipy_frame *codipy_top(void) { return PyEval_GetFrame(); }
#endif

/* Ticks of the processor's own counter, which takes 7 ns where the system's clock takes 20; -1 where none is known. */
static inline int64_t codipy_ticks(void) {
#if defined(_M_X64) || defined(__x86_64__)
    return (int64_t)__rdtsc();
#elif defined(__aarch64__) && !defined(_MSC_VER)
    int64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return -1;
#endif
}
#endif

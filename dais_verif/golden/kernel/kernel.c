/* The fast golden engine: DAIS programs as bit-sliced plane code (lower.h), executed for 512 samples at a time
 * (planes.h) in the widest instructions that the machine has. This file: the Python type. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

#define PLANE_BYTES 256
#define PLANE_ROWS (PLANE_BYTES * 8)
#define PLANE_STEP (PLANE_BYTES / 8)

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "lower.h"

#include "block.h"

#include "rows.h"

/* ------------------------------------------------------------------ instruction sets */

typedef int64_t executor(const lowering *, char *, block *, int64_t, int64_t);

#define ISA base
#include "isa.h"
#undef ISA

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_X86_CLONES
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define ISA avx2
#include "isa.h"
#undef ISA
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#define ISA avx512
#include "isa.h"
#undef ISA
#pragma GCC pop_options
#endif

static executor *executor_of(const char *name) {
    if (!strcmp(name, "base")) return run_base;
#ifdef HAVE_X86_CLONES
    __builtin_cpu_init();
    if (!strcmp(name, "avx2") && __builtin_cpu_supports("x86-64-v3")) return run_avx2;
    if (!strcmp(name, "avx512") && __builtin_cpu_supports("x86-64-v4")) return run_avx512;
#endif
    return NULL;
}

/* ------------------------------------------------------------------ the Python type */

#define SPARES 8 /* threads that find planes allocated; accessed only while holding Python's lock */

typedef struct {
    PyObject_HEAD
    int64_t n, n_in, n_out, n_seen;
    lowering l;          /* the result of lower; l.p is not kept */
    uint32_t n_planes;
    row_op *rows;        /* row code, or NULL */
    row_term *row_terms; /* of its sums */
    int64_t n_rows;
    program outputs;     /* of the program: out_idx, out_neg, n_out */
    int64_t *tables;     /* entries that the lookups point into */
    int32_t *narrow;
    char *spare[SPARES]; /* planes of finished runs, for the next ones */
    int n_spare;
} Code;

static void code_free(PyObject *self) {
    Code *code = (Code *)self;
    PyTypeObject *type = Py_TYPE(self);
    lowering_free(&code->l);
    free(code->rows);
    free(code->row_terms);
    free((void *)code->outputs.out_idx);
    free((void *)code->outputs.out_neg);
    free(code->tables);
    free(code->narrow);
    while (code->n_spare) free(code->spare[--code->n_spare]);
    type->tp_free(self);
    Py_DECREF(type);
}

/* At most this many rows use row code: a pass over planes takes as long as some forty of them. */
#define FEW_ROWS 32

static char *planes_for(Code *code) {
    char *planes = code->n_spare ? code->spare[--code->n_spare] : NULL;
    if (!planes) {
        size_t bytes = (size_t)code->n_planes * PLANE_BYTES, values = FIRST_FREE * PLANE_BYTES + (size_t)code->n * 8;
        planes = aligned_alloc(PLANE_BYTES, (bytes > values ? bytes : values + PLANE_BYTES) / PLANE_BYTES * PLANE_BYTES);
        if (planes) {
            memset(planes + ZERO * PLANE_BYTES, 0, PLANE_BYTES);
            memset(planes + ONE * PLANE_BYTES, 0xFF, PLANE_BYTES);
            memset(planes + SCRAP * PLANE_BYTES, 0, PLANE_BYTES);
        }
    }
    return planes;
}

/* Bytes of a C integer of so many bits. */
static int size_for(int64_t bits) { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }

/* True if inputs can have this kind and number of bytes. */
static int known_type(int kind, int size) {
    return size == 2 || size == 4 || size == 8 || (size == 1 && kind != REAL);
}

/* At least this many bytes, aligned to a cache line. */
static void *on_lines(size_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

static PyObject *code_run(PyObject *self, PyObject *args) {
    Code *code = (Code *)self;
    const char *isa;
    Py_buffer x, y, shift, in_scale, out_scale, spent = {.buf = NULL}, seen = {.buf = NULL};
    long long x_rows, y_rows, first, last;
    int x_kind, x_size, by_rows, y_size;
    if (!PyArg_ParseTuple(args, "sy*LCipw*LiLLy*y*y*|w*w*", &isa, &x, &x_rows, &x_kind, &x_size, &by_rows, &y, &y_rows,
                          &y_size, &first, &last, &shift, &in_scale, &out_scale, &spent, &seen))
        return NULL;
    if (!spent.len) PyBuffer_Release(&spent), spent.buf = NULL;
    PyObject *result = NULL;
    executor *run = executor_of(isa);
    char *planes = NULL;
    int64_t x_bytes = x_rows * code->n_in * x_size, y_bytes = y_rows * code->n_out * (y_size ? y_size : 8);
    if (!run) {
        PyErr_Format(PyExc_ValueError, "this machine has no instruction set %s", isa);
    } else if (x.len < x_bytes || y.len < y_bytes || first < 0 || last > x_rows || last > y_rows ||
               (shift.len && shift.len < code->n_in * 8) || (spent.buf && spent.len < (code->n + code->n_out) * 8) || (seen.buf && seen.len < code->n_seen) ||
               (x_kind == REAL && (in_scale.len < code->n_in * 8)) || !known_type(x_kind, x_size) ||
               (y_size == DOUBLES && (out_scale.len < code->n_out * 8))) {
        PyErr_SetString(PyExc_ValueError, "buffers do not fit the program");
    } else if (!(planes = planes_for(code))) {
        PyErr_NoMemory();
    } else {
        block io = {.x = x.buf, .y = y.buf, .x_rows = x_rows, .y_rows = y_rows, .x_kind = x_kind, .x_size = x_size,
                    .by_rows = by_rows, .y_size = y_size,
                    .n_in = code->n_in, .n_out = code->n_out, .shift = shift.len ? shift.buf : NULL,
                    .in_scale = in_scale.buf, .out_scale = out_scale.buf,
                    .lookups = code->l.lookups,
                    .seen = code->n_seen && seen.buf ? seen.buf : NULL, .watched = code->l.watched,
                    .spent = spent.buf, .clock = spent.buf ? clock_cost() : 0, .bad_row = -1};
        int64_t broken = -1;
        io.in_size = x_kind == REAL ? size_for(code->l.widest_in) : x_size, io.out_size = size_for(code->l.widest_out);
        io.streams = y_bytes > STREAMED;
        int row_by_row = code->rows && !io.spent && !io.seen, few = row_by_row && last - first <= FEW_ROWS; /* no block is converted as a whole */
        int from_others = (x_kind == REAL || by_rows) && !few, to_doubles = y_size == DOUBLES && !few;
        if (from_others) io.in_ints = on_lines((size_t)(code->n_in * STRIDE(io.in_size)));
        if (to_doubles) io.out_ints = on_lines((size_t)(code->n_out * STRIDE(io.out_size)));
        if (from_others || to_doubles) io.strip = on_lines((size_t)max64(max64(code->n_in, code->n_out), 8) * 64 * 8);
        if (io.seen) io.closed = calloc((size_t)code->l.n_watched + 1, 1);
        int enough = (!io.seen || io.closed) && (!from_others || (io.in_ints && io.strip)) && (!to_doubles || (io.out_ints && io.strip));
        if (enough) {
            Py_BEGIN_ALLOW_THREADS
            int64_t *values = (int64_t *)(planes + FIRST_FREE * PLANE_BYTES);
            int64_t bulk = row_by_row && (last - first) % PLANE_ROWS <= FEW_ROWS ? last - (last - first) % PLANE_ROWS : last;
            broken = run(&code->l, planes, &io, first, bulk);
#ifdef __SSE2__
            _mm_sfence(); /* make streamed outputs visible to every thread */
#endif
            for (int64_t row = bulk; row < last && broken < 0 && io.bad_row < 0 && finite_row(&io, row); row++) {
                if (run_row(code->rows, code->n_rows, values, &io, row)) broken = row;
                write_row(&io, values, &code->outputs, row);
            }
            Py_END_ALLOW_THREADS
        }
        free(io.in_ints), free(io.out_ints), free(io.strip), free(io.closed);
        if (!enough) PyErr_NoMemory();
        else result = Py_BuildValue("LL", (long long)broken, (long long)io.bad_row);
    }
    if (planes) {
        if (code->n_spare < SPARES) code->spare[code->n_spare++] = planes;
        else free(planes);
    }
    PyBuffer_Release(&x), PyBuffer_Release(&y), PyBuffer_Release(&shift);
    PyBuffer_Release(&in_scale), PyBuffer_Release(&out_scale), PyBuffer_Release(&spent), PyBuffer_Release(&seen);
    return result;
}

static PyObject *bytes_of(const void *data, int64_t n, size_t size) {
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)(n * (int64_t)size));
}

static PyObject *code_facts(PyObject *self, PyObject *unused) {
    Code *code = (Code *)self;
    const lowering *l = &code->l;
    (void)unused;
    return Py_BuildValue("{s:N,s:N,s:N,s:I,s:n,s:n,s:L,s:L}", "order", bytes_of(l->order, code->n, 4), "safe",
                         bytes_of(l->safe, code->n, 1), "in_lo", bytes_of(l->in_lo, code->n_in, 8), "planes",
                         code->n_planes, "runs", (Py_ssize_t)l->n_runs, "words", (Py_ssize_t)l->length, "needed", (long long)l->needed,
                         "widest_out", (long long)l->widest_out);
}

static PyMethodDef code_methods[] = {
    {"run", code_run, METH_VARARGS, "run(isa, x, x_rows, x_kind, x_size, by_rows, y, y_rows, y_size, first, last, shift, in_scale, out_scale, spent=empty, seen=empty)"},
    {"facts", code_facts, METH_NOARGS, "what the compiler made, as a dictionary"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot code_slots[] = {
    {Py_tp_dealloc, code_free},
    {Py_tp_methods, code_methods},
    {Py_tp_doc, "Plane code of one program."},
    {0, NULL},
};

static PyType_Spec code_spec = {
    .name = "dais_verif.golden._kernel.Code",
    .basicsize = sizeof(Code),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = code_slots,
};

static PyObject *code_type;

static int64_t *copied(const int64_t *from, int64_t n) {
    int64_t *to = malloc((size_t)n * sizeof *to + 1);
    if (to) memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

static PyObject *compile_program(PyObject *module, PyObject *args) {
    Py_buffer b[16];
    int checked, fuse, locality;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*y*y*y*y*y*y*y*y*ppp", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7],
                          &b[8], &b[9], &b[10], &b[11], &b[12], &b[13], &b[14], &b[15], &checked, &fuse, &locality))
        return NULL;
    Code *code = (Code *)((PyTypeObject *)code_type)->tp_alloc((PyTypeObject *)code_type, 0);
    PyObject *result = NULL;
    if (code) {
        program p = {.n = b[0].len / 8, .n_in = b[7].len / 8, .n_out = b[8].len / 8, .n_tables = b[10].len / 8,
                     .code = b[0].buf, .id0 = b[1].buf, .id1 = b[2].buf, .data = b[3].buf, .k = b[4].buf,
                     .i = b[5].buf, .f = b[6].buf, .inp_shift = b[7].buf, .out_idx = b[8].buf,
                     .out_neg = b[9].buf, .table_size = b[10].buf,
                     .term_op = b[13].buf, .term_shift = b[14].buf, .term_negative = b[15].buf, .checked = checked, .fuse = fuse,
                     .locality = locality, .places = b[12].len ? b[12].buf : NULL};
        code->n = p.n, code->n_in = p.n_in, code->n_out = p.n_out;
        if (p.places) code->n_seen = p.places[p.n + p.n_out]; /* after the last */
        int64_t entries = b[11].len / 8, fit = 1;
        const int64_t *tables = b[11].buf;
        code->tables = malloc((size_t)b[11].len + 8);
        code->narrow = malloc((size_t)entries * 4 + 4);
        code->outputs.n_out = p.n_out;
        code->outputs.out_idx = copied(p.out_idx, p.n_out);
        code->outputs.out_neg = copied(p.out_neg, p.n_out);
        if (code->tables && code->narrow && code->outputs.out_idx && code->outputs.out_neg) {
            Py_BEGIN_ALLOW_THREADS
            for (int64_t j = 0; j < entries; j++) {
                code->tables[j] = tables[j];
                code->narrow[j] = (int32_t)tables[j];
                fit &= code->narrow[j] == tables[j];
            }
            p.tables = code->tables;
            p.narrow = fit ? code->narrow : NULL;
            code->n_planes = lower(&code->l, &p);
            if (code->n_planes) code->rows = row_code(&code->l, &code->n_rows, &code->row_terms);
            code->l.p = NULL;
            Py_END_ALLOW_THREADS
        }
        if (code->n_planes) {
            result = (PyObject *)code;
        } else {
            Py_DECREF(code);
            result = Py_NewRef(Py_None);
        }
    }
    for (int j = 0; j < 16; j++) PyBuffer_Release(&b[j]);
    return result;
}

static PyObject *has_isa(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    return text ? PyBool_FromLong(executor_of(text) != NULL) : NULL;
}

static PyMethodDef methods[] = {
    {"compile", compile_program, METH_VARARGS, "compile(columns..., checked, fuse, locality) -> Code, or None if beyond this engine"},
    {"has_isa", has_isa, METH_O, "whether this machine runs the code of an instruction set: base, avx2, avx512"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, methods, NULL, NULL, NULL, NULL};

#define TEXT(macro) TEXT_(macro)
#define TEXT_(name) #name

PyMODINIT_FUNC PyInit__kernel(void) {
    code_type = PyType_FromSpec(&code_spec);
    PyObject *module = code_type ? PyModule_Create(&definition) : NULL;
    if (module && PyModule_AddStringConstant(module, "SOURCE_HASH", TEXT(SOURCE_HASH))) Py_CLEAR(module);
    return module;
}

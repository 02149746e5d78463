/* Plane code: its elements, its source, and the state of the lowering that generates it. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

typedef uint32_t bit;

/* Reserved bits, which are also reserved planes. */
enum { ZERO, ONE, BROKEN, SCRAP, VALID, FIRST_FREE };

/* Kinds of runs. A sum adds 2 to MOST_TERMS terms in as many chains of full adders less one; the terms that are
 * subtracted come last. Its steps are (a, b, ..., r). */
#define MOST_TERMS 6
#define K_SUM(terms, negative) ((terms) * ((terms)-1) / 2 - 1 + (negative))
enum {
    K_SUMS = K_SUM(MOST_TERMS, MOST_TERMS - 1), /* the last of them */
    K_MADD,  /* r = a + (b if aux)   steps of (a, b, r) */
    K_MSUB,  /* r = a - (b if aux) */
    K_MUX,   /* r = aux ? a : b */
    K_AND,
    K_OR,
    K_XOR,
    K_GATE,  /* r = aux ? 0 : a        steps of (a, r) */
    K_BROKEN,/* rows where a != b break a promise: steps of (a, b) */
    K_LOAD,  /* planes of input aux    steps of (r) */
    K_STORE, /* output aux             steps of (a) */
    K_TABLE, /* lookup aux: two header words more (width in, width out), steps of (a) then of (r) */
    K_SEEN,   /* watched aux, a value: steps of (a) */
    K_DIFFER, /* watched aux: steps of (a, b), the first of which is (condition, 0) */
    K_ENTRIES,/* watched aux, the operand of a lookup: steps of (a) */
    KINDS
};

static const struct {
    uint8_t words; /* per step */
    int8_t result; /* place of the result in a step, or -1 */
    uint8_t aux;   /* aux is a bit */
    uint8_t chain; /* a step depends on the steps before it */
} KIND[KINDS] = {
    [K_SUM(2, 0) ... K_SUM(2, 1)] = {3, 2, 0, 1},
    [K_SUM(3, 0) ... K_SUM(3, 2)] = {4, 3, 0, 1},
    [K_SUM(4, 0) ... K_SUM(4, 3)] = {5, 4, 0, 1},
    [K_SUM(5, 0) ... K_SUM(5, 4)] = {6, 5, 0, 1},
    [K_SUM(6, 0) ... K_SUM(6, 5)] = {7, 6, 0, 1},
    [K_MADD] = {3, 2, 1, 1},    [K_MSUB] = {3, 2, 1, 1},    [K_MUX] = {3, 2, 1, 0},     [K_AND] = {3, 2, 0, 0},
    [K_OR] = {3, 2, 0, 0},      [K_XOR] = {3, 2, 0, 0},     [K_GATE] = {2, 1, 1, 0},    [K_BROKEN] = {2, -1, 0, 0},
    [K_LOAD] = {1, 0, 0, 0},    [K_STORE] = {1, -1, 0, 0},  [K_TABLE] = {1, -1, 0, 0},
    [K_SEEN] = {1, -1, 0, 0},   [K_DIFFER] = {2, -1, 0, 0}, [K_ENTRIES] = {1, -1, 0, 0},
};

typedef struct {
    int64_t lo, hi; /* raw, of the op's own type; valid only if known */
    int known;
} range;

typedef struct {
    int32_t offset; /* index = raw - offset modulo 2**32, within 0 .. size - 1 */
    uint32_t size;
    const int64_t *entries; /* followed by a 0 */
    const int32_t *narrow;  /* the same, where they fit */
    int is_signed, may_break;
} lookup;

/* A watched place. */
typedef struct {
    int64_t place;  /* offset of its probes */
    int32_t lookup; /* of K_ENTRIES */
    int is_signed;  /* of K_SEEN */
} watched;

typedef struct {
    /* the program: columns (n) */
    int64_t n, n_in, n_out, n_tables;
    const int64_t *code, *id0, *id1, *data, *k, *i, *f;
    const int64_t *inp_shift, *out_idx, *out_neg, *table_size;
    const int64_t *term_op, *term_shift, *term_negative; /* of the sums; op -1: the constant of the sum */
    const int64_t *tables; /* entries of all, a 0 after each table */
    const int32_t *narrow; /* the same if all fit, or NULL */
    int checked, fuse, locality;
    const int64_t *places; /* of ops and outputs if they are watched, or NULL */
} program;

/* The head of a run; its steps are words of the code, planes in units of 8 bytes. Heads lie apart from the steps
 * so that the processor sees the next ones early, whatever the length of this run. */
typedef struct {
    uint16_t kind;
    uint16_t words; /* of its steps */
    uint32_t aux;   /* plane, input, output or lookup */
} run_head;

#define SCRATCH 4

typedef struct {
    const program *p;
    int64_t *at;       /* n: where an op's bits start in pool */
    bit *pool;
    int32_t *order;    /* n: the schedule */
    int32_t *uses;     /* n */
    int32_t *reader;   /* n: one op that reads it */
    uint8_t *deferred; /* n: terms of a sum that is computed inside its only reader, else 0 */
    uint8_t *safe;     /* n: promise proved */
    range *ranges;     /* n */
    bit *input_bits;   /* of all inputs, each in_n bits from in_at */
    int64_t *in_lo, *in_n, *in_at;
    uint8_t *in_loaded;
    int64_t needed; /* ops that outputs need; the rest of the order is lowered only to be checked */
    int64_t widest_in, widest_out; /* bits of the widest input and output, as signed integers */
    int64_t *table_at; /* n_tables: where each starts in tables */
    lookup *lookups;
    int64_t n_lookups;
    watched *watched;
    int64_t n_watched;
    uint32_t *stream;
    size_t length, capacity;
    run_head *heads;   /* of each run, after lowering */
    size_t *starts;    /* of each run */
    int32_t *owner;    /* op of each run; n + j for output j */
    size_t n_runs, runs_capacity;
    bit next;          /* bits so far */
    int32_t now;       /* the op being lowered */
    bit *scratch[SCRATCH]; /* vectors under construction */
    size_t scratch_size[SCRATCH];
    int failed;        /* out of memory, or too large */
} lowering;

#define MAX_STREAM ((size_t)1 << 27)
#define MAX_POOL ((int64_t)1 << 28)

/* ------------------------------------------------------------------ growing arrays */

static int reserve(lowering *l, size_t words) {
    if (l->failed) return 0;
    if (l->length + words > l->capacity) {
        size_t want = (l->length + words) * 2;
        uint32_t *grown = want > MAX_STREAM ? NULL : realloc(l->stream, want * sizeof *grown);
        if (!grown) {
            l->failed = 1;
            return 0;
        }
        l->stream = grown;
        l->capacity = want;
    }
    return 1;
}

static uint32_t *begin(lowering *l, uint32_t kind, uint32_t aux, size_t words) {
    if (!reserve(l, words + 4)) return NULL;
    if (l->n_runs == l->runs_capacity) {
        size_t want = l->runs_capacity * 2 + 1024;
        size_t *starts = realloc(l->starts, want * sizeof *starts);
        if (starts) l->starts = starts;
        int32_t *owner = starts ? realloc(l->owner, want * sizeof *owner) : NULL;
        if (!owner) {
            l->failed = 1;
            return NULL;
        }
        l->owner = owner;
        l->runs_capacity = want;
    }
    l->starts[l->n_runs] = l->length;
    l->owner[l->n_runs++] = l->now;
    uint32_t *words_of = l->stream + l->length;
    words_of[0] = kind;
    words_of[1] = aux;
    return words_of + 2;
}

static void finish(lowering *l, uint32_t *stop, uint32_t steps) {
    l->stream[l->starts[l->n_runs - 1]] |= steps << 8;
    l->length = (size_t)(stop - l->stream);
}

static bit *scratch(lowering *l, int which, int64_t n) {
    if ((size_t)n > l->scratch_size[which]) {
        size_t want = (size_t)n * 2 + 256;
        bit *grown = realloc(l->scratch[which], want * sizeof *grown);
        if (!grown) {
            l->failed = 1;
            return NULL;
        }
        l->scratch[which] = grown;
        l->scratch_size[which] = want;
    }
    return l->scratch[which];
}

/* ------------------------------------------------------------------ properties of an op */

static inline int64_t width(const program *p, int64_t op) { return p->k[op] + p->i[op] + p->f[op]; }

static int64_t low32(int64_t data) { return (int32_t)(uint32_t)(uint64_t)data; }
static int64_t high32(int64_t data) { return (int32_t)(uint32_t)((uint64_t)data >> 32); }

/* Codes that exist only in ALIR. */
enum { SUM = 11, SHIFT = 12 };

static int64_t n_operands(const program *p, int64_t op) {
    switch (p->code[op]) {
    case -1: case 5: return 0;
    case 2: case -2: case 3: case -3: case 4: case 8: case 9: case -9: case SHIFT: return 1;
    case 6: case -6: return 3;
    case SUM: return p->id1[op];
    default: return 2;
    }
}

/* One of them, or -1 for a constant. */
static inline int64_t operand(const program *p, int64_t op, int64_t j) {
    if (p->code[op] == SUM) return p->term_op[p->id0[op] + j];
    return j == 0 ? p->id0[op] : j == 1 ? p->id1[op] : low32(p->data[op]);
}

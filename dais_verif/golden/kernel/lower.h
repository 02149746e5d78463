/* Lowering: a DAIS program becomes plane code, one full adder, gate or multiplexer a bit.
 *
 * A value is a vector of bits, each named by a number; bits that are copies, constants or sign extensions are
 * the same number again, so shifts, truncation, wrapping and sign extension cost nothing. Three passes:
 *   emit      ops in schedule order -> runs over bits that are written once (SSA)
 *   sweep     backwards: drop what nothing reads
 *   allocate  forwards: bits -> planes, each plane reused after the last read of its bit
 *
 * The rules are those of the semantics page: an exact result, then quantisation to the op's own type. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t bit;

/* Reserved bits, which are also reserved planes. */
enum { ZERO, ONE, BROKEN, SCRAP, FIRST_FREE };

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
    KINDS
};

static const struct {
    uint8_t words; /* a step */
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
};

/* A vector of bits: position p has weight 2**p; below lo all zero, from lo + n on all ext. */
typedef struct {
    int64_t lo, n;
    const bit *bits;
    bit ext;
} vector;

typedef struct {
    int64_t lo, hi; /* raw, of the op's own type; valid only if known */
    int known;
} range;

typedef struct {
    int32_t offset; /* index = raw - offset modulo 2**32, within 0 .. size - 1 */
    uint32_t size;
    const int64_t *entries; /* and a 0 behind them */
    const int32_t *narrow;  /* the same, where they fit */
    int is_signed, may_break;
} lookup;

typedef struct {
    /* the program: columns (n) */
    int64_t n, n_in, n_out, n_tables;
    const int64_t *code, *id0, *id1, *data, *k, *i, *f;
    const int64_t *inp_shift, *out_idx, *out_shift, *out_neg, *table_size;
    const int64_t *tables; /* entries of all, a 0 behind each table */
    const int32_t *narrow; /* the same if all fit, or NULL */
    int checked, fuse, locality;
} program;

/* The head of a run; its steps are words of the code, planes in units of 8 bytes. Heads lie apart from the steps
 * so that the processor sees the next ones early, whatever the length of this run. */
typedef struct {
    uint16_t kind;
    uint16_t words; /* of its steps */
    uint32_t aux;   /* plane, input, output or lookup */
} run_head;

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
    lookup *lookups;
    int64_t n_lookups;
    uint32_t *stream;
    size_t length, capacity;
    run_head *heads;   /* of each run, in the end */
    size_t *starts;    /* of each run */
    int32_t *owner;    /* op of each run; n + j for output j */
    size_t n_runs, runs_capacity;
    bit next;          /* bits so far */
    int32_t now;       /* the op being lowered */
    bit *scratch[6];   /* vectors under construction */
    size_t scratch_size[6];
    int failed;        /* out of memory, or too large */
} lowering;

#define MAX_STREAM ((size_t)1 << 27)
#define MAX_POOL ((int64_t)1 << 28)

/* ------------------------------------------------------------------ growing things */

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

/* ------------------------------------------------------------------ vectors */

static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static inline int64_t width(const program *p, int64_t op) { return p->k[op] + p->i[op] + p->f[op]; }

static inline bit at(const vector *v, int64_t position) {
    int64_t j = position - v->lo;
    return j < 0 ? ZERO : j < v->n ? v->bits[j] : v->ext;
}

static vector trimmed(vector v) {
    while (v.n > 0 && v.bits[v.n - 1] == v.ext) v.n--;
    return v;
}

/* The first position from which on every bit equals ext. */
static inline int64_t end_of(const vector *v) { return v->lo + v->n; }

static vector value_of(const lowering *l, int64_t op) {
    int64_t w = width(l->p, op);
    const bit *bits = l->pool + l->at[op];
    vector v = {-l->p->f[op], w, bits, w && l->p->k[op] ? bits[w - 1] : ZERO};
    return trimmed(v);
}

static vector shifted(vector v, int64_t shift) {
    v.lo += shift;
    return v;
}

static const vector NOTHING = {0, 0, NULL, ZERO};

/* Terms of a sum. Those that are subtracted come last, and the first is not one of them. */
typedef struct {
    vector term[MOST_TERMS + 1];
    int n, negative; /* terms; how many of them are subtracted */
} terms;

static void put_term(terms *t, vector v, int subtract) {
    if (v.n == 0 && v.ext == ZERO) return;
    int place = subtract ? t->n : t->n - t->negative;
    for (int j = t->n; j > place; j--) t->term[j] = t->term[j - 1];
    t->term[place] = v;
    t->n++;
    t->negative += subtract;
}

/* The sum, exact in all bits below position need. */
static vector sum(lowering *l, int into, const terms *t, int64_t need) {
    static const vector nothing = {0, 0, NULL, ZERO};
    terms u = *t;
    if (u.n == u.negative) { /* nothing to subtract from */
        for (int j = u.n++; j > 0; j--) u.term[j] = u.term[j - 1];
        u.term[0] = nothing;
        u.term[0].lo = u.n > 1 ? u.term[1].lo : 0;
    }
    if (u.n == 1) return u.term[0];
    int64_t lo = u.term[0].lo, end = end_of(&u.term[0]), is_signed = u.negative;
    for (int j = 0; j < u.n; j++) {
        lo = min64(lo, u.term[j].lo);
        end = max64(end, end_of(&u.term[j]));
        is_signed |= u.term[j].ext != ZERO;
    }
    /* So many terms of that many bits (and a sign) need so many bits more. */
    int64_t more = u.n > 4 ? 3 : u.n > 2 ? 2 : 1;
    int64_t stop = max64(min64(end + more + (is_signed != 0), need), lo), p = lo;
    bit *out = scratch(l, into, stop - lo);
    if (!out) return NOTHING;
    for (; p < stop; p++) { /* as long as there is nothing to add */
        int set = 0, which = 0, n_positive = u.n - u.negative;
        for (int j = 0; j < u.n; j++)
            if (at(&u.term[j], p) != ZERO) set++, which = j;
        if (set > 1 || which >= n_positive) break;
        out[p - lo] = at(&u.term[which], p);
    }
    if (p < stop) {
        uint32_t n = (uint32_t)(stop - p), step = (uint32_t)u.n + 1;
        uint32_t *w = begin(l, (uint32_t)K_SUM(u.n, u.negative), 0, step * (size_t)n);
        if (!w) return NOTHING;
        for (; p < stop; p++, w += step) {
            for (int j = 0; j < u.n; j++) w[j] = at(&u.term[j], p);
            w[u.n] = out[p - lo] = l->next++;
        }
        finish(l, w, n);
    }
    vector r = {lo, stop - lo, out, !is_signed || stop == lo ? ZERO : out[stop - lo - 1]};
    return r;
}

static vector add(lowering *l, int into, vector a, vector b, int subtract, int64_t need) {
    terms t = {.n = 0};
    put_term(&t, a, 0);
    put_term(&t, b, subtract);
    return sum(l, into, &t, need);
}

static vector negated(lowering *l, int into, vector v, int64_t need) {
    if (v.n == 0 && v.ext == ZERO) return v; /* keeps its place */
    return add(l, into, NOTHING, v, 1, need);
}

/* Bit by bit over positions lo .. stop - 1. */
static vector bitwise(lowering *l, int into, uint32_t kind, bit aux, vector a, vector b, int64_t lo, int64_t stop) {
    stop = max64(stop, lo);
    bit *out = scratch(l, into, stop - lo);
    uint32_t n = (uint32_t)(stop - lo), *w = out && n ? begin(l, kind, aux, 3 * (size_t)n) : NULL;
    if (!w) return NOTHING;
    for (int64_t p = lo; p < stop; p++, w += 3) {
        w[0] = at(&a, p);
        w[1] = at(&b, p);
        w[2] = out[p - lo] = l->next++;
    }
    finish(l, w, n);
    vector r = {lo, stop - lo, out, out[stop - lo - 1]};
    return r;
}

/* All bits of v folded by AND or OR into one. */
static bit folded(lowering *l, uint32_t kind, vector v, bit start) {
    if (v.n <= 0) return start;
    uint32_t n = (uint32_t)v.n, *w = begin(l, kind, 0, 3 * (size_t)n);
    if (!w) return ZERO;
    for (int64_t j = 0; j < v.n; j++, w += 3) {
        w[0] = start;
        w[1] = v.bits[j];
        w[2] = start = l->next++;
    }
    finish(l, w, n);
    return start;
}

static vector product(lowering *l, vector a, vector b, int64_t need) {
    if (b.n > a.n) {
        vector t = a;
        a = b;
        b = t;
    }
    /* Row by row: a shifted by j, added where bit j of b is set; the sign of b has negative weight. */
    int is_signed = a.ext != ZERO;
    vector sum = {a.lo + b.lo, 0, NULL, ZERO};
    need -= sum.lo;
    int into = 1;
    for (int64_t j = 0; j <= b.n; j++) {
        int last = j == b.n;
        bit m = last ? b.ext : b.bits[j];
        if (m == ZERO) continue;
        vector row = shifted(a, sum.lo + j - a.lo);
        int64_t low = j, stop = a.n + j + (is_signed || last ? 2 : 1);
        stop = max64(min64(stop, need), 0);
        low = min64(low, stop);
        bit *out = scratch(l, into, stop);
        if (!out) return NOTHING;
        into = 3 - into;
        for (int64_t q = 0; q < low; q++) out[q] = at(&sum, sum.lo + q);
        if (low < stop) {
            uint32_t n = (uint32_t)(stop - low), *w = begin(l, last ? K_MSUB : K_MADD, m, 3 * (size_t)n);
            if (!w) return NOTHING;
            for (int64_t q = low; q < stop; q++, w += 3) {
                w[0] = at(&sum, sum.lo + q);
                w[1] = at(&row, sum.lo + q);
                w[2] = out[q] = l->next++;
            }
            finish(l, w, n);
        }
        sum.bits = out;
        sum.n = stop;
        sum.ext = stop && (is_signed || last) ? out[stop - 1] : ZERO;
    }
    return sum;
}

/* ------------------------------------------------------------------ ranges: which promises need no check */

typedef __int128 wide;

typedef struct {
    wide lo, hi;
    int64_t f;
    int known;
} interval;

static const interval UNKNOWN = {0, 0, 0, 0};

static interval interval_of(const lowering *l, int64_t op) {
    const range *r = &l->ranges[op];
    interval x = {r->lo, r->hi, l->p->f[op], r->known};
    return x;
}

static interval aligned(interval x, int64_t f) {
    int64_t d = f - x.f;
    if (!x.known || d < 0 || d > 60) return UNKNOWN;
    wide limit = (wide)1 << (124 - d);
    if (x.lo <= -limit || x.hi >= limit) return UNKNOWN;
    x.lo *= (wide)1 << d;
    x.hi *= (wide)1 << d;
    x.f = f;
    return x;
}

static interval opposite(interval x) {
    wide lo = x.lo;
    x.lo = -x.hi;
    x.hi = -lo;
    return x;
}

static interval sum_of(interval a, interval b) {
    int64_t f = max64(a.f, b.f);
    a = aligned(a, f);
    b = aligned(b, f);
    a.lo += b.lo;
    a.hi += b.hi;
    a.known &= b.known;
    return a;
}

/* The range after quantisation to the op's own type; returns whether wrapping is excluded. */
static int settle(lowering *l, int64_t op, interval x) {
    int64_t w = width(l->p, op);
    range *r = &l->ranges[op];
    r->known = w <= 62;
    r->lo = w && l->p->k[op] ? -((int64_t)1 << (w <= 62 && w ? w - 1 : 0)) : 0;
    r->hi = w && r->known ? ((int64_t)1 << (w - (l->p->k[op] != 0))) - 1 : 0;
    int64_t drop = x.f - l->p->f[op];
    if (!x.known || !r->known) return 0;
    if (drop > 0) {
        if (drop > 126) drop = 126;
        x.lo >>= drop;
        x.hi >>= drop;
    } else {
        x = aligned(x, l->p->f[op]);
        if (!x.known) return 0;
    }
    if (x.lo < r->lo || x.hi > r->hi) return 0;
    r->lo = (int64_t)x.lo;
    r->hi = (int64_t)x.hi;
    return 1;
}

static wide wide_min(wide a, wide b) { return a < b ? a : b; }
static wide wide_max(wide a, wide b) { return a > b ? a : b; }

static interval product_of(interval a, interval b) {
    if (!a.known || !b.known) return UNKNOWN;
    wide p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    interval x = {wide_min(wide_min(p, q), wide_min(r, s)), wide_max(wide_max(p, q), wide_max(r, s)), a.f + b.f, 1};
    return x;
}

/* ------------------------------------------------------------------ ops */

#define EVERYTHING ((int64_t)1 << 40)

static int64_t low32(int64_t data) { return (int32_t)(uint32_t)(uint64_t)data; }
static int64_t high32(int64_t data) { return (int32_t)(uint32_t)((uint64_t)data >> 32); }

static int operands(const program *p, int64_t op, int64_t out[3]) {
    switch (p->code[op]) {
    case -1: case 5: return 0;
    case 2: case -2: case 3: case -3: case 4: case 8: case 9: case -9:
        out[0] = p->id0[op];
        return 1;
    case 6: case -6:
        out[2] = low32(p->data[op]);
        out[0] = p->id0[op];
        out[1] = p->id1[op];
        return 3;
    default:
        out[0] = p->id0[op];
        out[1] = p->id1[op];
        return 2;
    }
}

/* Take the op's bits from its exact result. fits: wrapping is excluded; check: report rows that change. */
static void quantise(lowering *l, int64_t op, vector exact, int fits, int promise) {
    int64_t w = width(l->p, op), lo = -l->p->f[op];
    bit *bits = l->pool + l->at[op];
    for (int64_t j = 0; j < w; j++) bits[j] = at(&exact, lo + j);
    if (!promise) return;
    exact = trimmed(exact);
    bit sign = w && l->p->k[op] ? bits[w - 1] : ZERO;
    int64_t below = min64(lo, end_of(&exact)) - exact.lo, above = fits ? 0 : end_of(&exact) - max64(lo + w, exact.lo);
    below = max64(below, 0);
    above = max64(above, 0);
    uint32_t n = 0, *start = begin(l, K_BROKEN, 0, 2 * (size_t)(below + above + 2)), *s = start;
    if (!s) return;
#define DIFFER(x, y) ((x) != (y) ? (s[0] = (x), s[1] = (y), s += 2, n++) : 0)
    for (int64_t j = 0; j < below; j++) DIFFER(exact.bits[j], ZERO);
    if (end_of(&exact) < lo) DIFFER(exact.ext, ZERO);
    for (int64_t j = 0; j < above; j++) DIFFER(exact.bits[exact.n - 1 - j], sign);
    if (!fits) DIFFER(exact.ext, sign);
    if (n && l->p->checked) {
        finish(l, s, n);
    } else {
        l->n_runs--; /* nothing to check */
    }
    l->safe[op] = n == 0 && (fits || l->p->checked); /* else it was perhaps cut at the top of the type */
}

static void lower_input(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t w = width(p, op), j = p->id0[op];
    interval all = UNKNOWN;
    settle(l, op, all);
    if (!w) return;
    bit *planes = l->input_bits + l->in_at[j];
    if (!l->in_loaded[j]) {
        uint32_t n = (uint32_t)l->in_n[j], *words = begin(l, K_LOAD, (uint32_t)j, n);
        if (!words) return;
        for (uint32_t q = 0; q < n; q++) *words++ = planes[q] = l->next++;
        finish(l, words, n);
        l->in_loaded[j] = 1;
    }
    int64_t first = -p->f[op] - p->inp_shift[j] - l->in_lo[j];
    memcpy(l->pool + l->at[op], planes + first, (size_t)w * sizeof(bit));
}

/* The terms of op: itself, or those of a sum that was deferred into its only reader. */
static void terms_of(const lowering *l, int64_t op, int64_t shift, int subtract, terms *t) {
    const program *p = l->p;
    if (!l->deferred[op]) {
        put_term(t, shifted(value_of(l, op), shift), subtract);
        return;
    }
    terms_of(l, p->id0[op], shift, subtract, t);
    terms_of(l, p->id1[op], shift + p->data[op], subtract ^ (p->code[op] == 1), t);
}

static int is_sum(const program *p, int64_t op) { return p->code[op] == 0 || p->code[op] == 1; }

/* Whether the only reader of op is a sum that can take n terms in its place. */
static int can_defer(const lowering *l, int64_t op, int n) {
    const program *p = l->p;
    if (!p->fuse || l->uses[op] != 1 || !is_sum(p, l->reader[op])) return 0;
    int64_t y = l->reader[op], other = p->id0[y] == op ? p->id1[y] : p->id0[y];
    return n + max64(l->deferred[other], 1) <= MOST_TERMS;
}

static void lower_sum(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t a = p->id0[op], b = p->id1[op], top = -p->f[op] + width(p, op), lo = INT64_MAX;
    int subtract = p->code[op] == 1, n = (int)(max64(l->deferred[a], 1) + max64(l->deferred[b], 1));
    interval x = interval_of(l, a), y = interval_of(l, b);
    y.f -= p->data[op];
    int fits = settle(l, op, sum_of(x, subtract ? opposite(y) : y));
    terms t = {.n = 0};
    terms_of(l, a, 0, 0, &t);
    terms_of(l, b, p->data[op], subtract, &t);
    for (int j = 0; j < t.n; j++) lo = min64(lo, t.term[j].lo);
    if (fits && lo >= -p->f[op] && can_defer(l, op, n)) { /* its reader comes later in the schedule */
        l->deferred[op] = (uint8_t)n;
        l->safe[op] = 1;
        return;
    }
    quantise(l, op, sum(l, 0, &t, fits || !p->checked ? top : EVERYTHING), fits, 1);
}

static void lower_relu(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t a = p->id0[op], lo = -p->f[op], w = width(p, op);
    interval x = interval_of(l, a);
    if (p->code[op] < 0) x = opposite(x);
    if (x.known) {
        x.lo = wide_max(x.lo, 0);
        x.hi = wide_max(x.hi, 0);
    }
    settle(l, op, x);
    vector t = value_of(l, a);
    if (p->code[op] < 0) t = trimmed(negated(l, 0, t, EVERYTHING));
    bit *bits = l->pool + l->at[op];
    if (t.ext == ZERO || !w) {
        quantise(l, op, t, 1, 0);
        return;
    }
    uint32_t n = 0, *s = begin(l, K_GATE, t.ext, 2 * (size_t)w);
    if (!s) return;
    for (int64_t j = 0; j < w; j++) {
        bit b = at(&t, lo + j);
        if (b == ZERO || b == t.ext) {
            bits[j] = ZERO;
        } else {
            s[0] = b;
            s[1] = bits[j] = l->next++;
            s += 2;
            n++;
        }
    }
    finish(l, s, n);
}

static void lower_quant(lowering *l, int64_t op) {
    int64_t a = l->p->id0[op], top = -l->p->f[op] + width(l->p, op);
    interval x = interval_of(l, a);
    vector t = value_of(l, a);
    if (l->p->code[op] < 0) {
        x = opposite(x);
        t = negated(l, 0, t, top);
    }
    settle(l, op, x);
    quantise(l, op, t, 1, 0);
}

/* data * 2**-f as a vector over scratch 3. */
static vector constant(lowering *l, int64_t data, int64_t f) {
    bit *bits = scratch(l, 3, 64);
    if (!bits) return NOTHING;
    for (int j = 0; j < 64; j++) bits[j] = (uint64_t)data >> j & 1 ? ONE : ZERO;
    vector v = {-f, 64, bits, bits[63]};
    v = trimmed(v);
    while (v.n > 0 && v.bits[0] == ZERO) {
        v.bits++;
        v.lo++;
        v.n--;
    }
    return v;
}

static void lower_add_const(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t a = p->id0[op], top = -p->f[op] + width(p, op), data = p->data[op];
    interval c = {data, data, p->f[op], 1};
    int fits = settle(l, op, sum_of(interval_of(l, a), c));
    int64_t need = fits || !p->checked ? top : EVERYTHING;
    /* Adding and subtracting the magnitude are the same; zeros above its top bit cost less than ones. */
    int subtract = data < 0 && data != INT64_MIN;
    vector exact = add(l, 0, value_of(l, a), constant(l, subtract ? -data : data, p->f[op]), subtract, need);
    quantise(l, op, exact, fits, 1);
}

static void lower_const(lowering *l, int64_t op) {
    interval c = {l->p->data[op], l->p->data[op], l->p->f[op], 1};
    int fits = settle(l, op, c);
    quantise(l, op, constant(l, l->p->data[op], l->p->f[op]), fits, 1);
}

static void lower_mux(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t c = low32(p->data[op]), s = high32(p->data[op]), lo = -p->f[op], w = width(p, op), cw = width(p, c);
    interval x = interval_of(l, p->id0[op]), y = interval_of(l, p->id1[op]);
    y.f -= s;
    if (p->code[op] < 0) y = opposite(y);
    int64_t f = max64(x.f, y.f);
    x = aligned(x, f);
    y = aligned(y, f);
    x.lo = wide_min(x.lo, y.lo);
    x.hi = wide_max(x.hi, y.hi);
    x.known &= y.known;
    settle(l, op, x);
    bit msb = cw ? l->pool[l->at[c] + cw - 1] : ZERO;
    vector a = value_of(l, p->id0[op]), b = shifted(value_of(l, p->id1[op]), s);
    if (p->code[op] < 0) b = negated(l, 0, b, lo + w);
    if (msb == ZERO || msb == ONE) {
        quantise(l, op, msb == ONE ? a : b, 1, 0);
        return;
    }
    bit *bits = l->pool + l->at[op];
    uint32_t n = 0, *words = w ? begin(l, K_MUX, msb, 3 * (size_t)w) : NULL;
    if (!words) return;
    bit before_a = SCRAP, before_b = SCRAP, before = SCRAP;
    for (int64_t j = 0; j < w; j++) {
        bit u = at(&a, lo + j), v = at(&b, lo + j);
        if (u == v) {
            bits[j] = u;
        } else if (u == before_a && v == before_b) {
            bits[j] = before; /* sign extension */
        } else {
            words[0] = before_a = u;
            words[1] = before_b = v;
            words[2] = before = bits[j] = l->next++;
            words += 3;
            n++;
        }
    }
    finish(l, words, n);
}

static void lower_mul(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t top = -p->f[op] + width(p, op);
    int fits = settle(l, op, product_of(interval_of(l, p->id0[op]), interval_of(l, p->id1[op])));
    int64_t need = fits || !p->checked ? top : EVERYTHING;
    quantise(l, op, product(l, value_of(l, p->id0[op]), value_of(l, p->id1[op]), need), fits, 1);
}

static void lower_table(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t a = p->id0[op], wa = width(p, a), w = width(p, op), t = low32(p->data[op]), start = 0;
    interval x = interval_of(l, a);
    settle(l, op, UNKNOWN);
    for (int64_t j = 0; j < t; j++) start += p->table_size[j] + 1;
    int64_t offset = (wa && p->k[a] ? -((int64_t)1 << (wa <= 31 ? wa - 1 : 0)) : 0) + high32(p->data[op]);
    int64_t size = p->table_size[t];
    if (wa > 31 || offset != (int32_t)offset || size > INT32_MAX) {
        l->failed = 1;
        return;
    }
    l->safe[op] = x.known && x.lo >= offset && x.hi - offset < size;
    lookup found = {(int32_t)offset, (uint32_t)size, p->tables + start, p->narrow ? p->narrow + start : NULL,
                    wa && p->k[a], !l->safe[op] && p->checked};
    l->lookups[l->n_lookups] = found;
    int64_t stored = min64(w, 64); /* of the bits of an entry, which is an int64 */
    uint32_t *words = begin(l, K_TABLE, (uint32_t)l->n_lookups++, (size_t)(wa + stored + 2));
    if (!words) return;
    bit *bits = l->pool + l->at[op];
    *words++ = (uint32_t)wa;
    *words++ = (uint32_t)stored;
    for (int64_t j = 0; j < wa; j++) *words++ = l->pool[l->at[a] + j];
    for (int64_t j = 0; j < stored; j++) *words++ = bits[j] = l->next++;
    for (int64_t j = stored; j < w; j++) bits[j] = p->k[op] ? bits[stored - 1] : ZERO;
    finish(l, words, (uint32_t)(wa + stored + 2));
}

static void lower_bit_unary(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t a = p->id0[op], wa = width(p, a), lo = -p->f[a];
    int negate = p->code[op] < 0;
    vector t = value_of(l, a);
    settle(l, op, UNKNOWN);
    if (p->data[op] == 0) {
        if (negate) t = trimmed(negated(l, 0, t, EVERYTHING));
        static const bit one[1] = {ONE};
        vector ones = {t.lo, 0, one, ONE};
        int64_t stop = p->k[op] ? end_of(&t) + 1 : lo + wa;
        vector inverted = bitwise(l, 1, K_XOR, 0, t, ones, min64(t.lo, lo), stop);
        if (inverted.n == 0) { /* NOT of nothing, modulo 1 */
            quantise(l, op, inverted, 0, 1);
            return;
        }
        if (!p->k[op]) inverted.ext = ZERO;
        quantise(l, op, inverted, 0, 1);
        return;
    }
    bit result;
    if (p->data[op] == 1) { /* -t is 0 where t is */
        vector v = {lo, wa, l->pool + l->at[a], ZERO};
        result = folded(l, K_OR, v, ZERO);
    } else {
        if (negate) t = negated(l, 0, t, lo + wa);
        bit *bits = scratch(l, 1, wa + 1);
        if (!bits) return;
        for (int64_t j = 0; j < wa; j++) bits[j] = at(&t, lo + j);
        vector v = {lo, wa, bits, ZERO};
        result = folded(l, K_AND, v, ONE);
    }
    vector truth = {0, 1, &result, ZERO};
    quantise(l, op, truth, 0, 1);
}

static void lower_bit_binary(lowering *l, int64_t op) {
    static const uint32_t kinds[3] = {K_AND, K_OR, K_XOR};
    const program *p = l->p;
    int64_t data = p->data[op];
    vector a = value_of(l, p->id0[op]), b = shifted(value_of(l, p->id1[op]), low32(data));
    settle(l, op, UNKNOWN);
    if (data >> 32 & 1) a = trimmed(negated(l, 0, a, EVERYTHING));
    if (data >> 33 & 1) b = trimmed(negated(l, 1, b, EVERYTHING));
    int64_t lo = min64(a.lo, b.lo), stop = max64(end_of(&a), end_of(&b)) + 1;
    quantise(l, op, bitwise(l, 2, kinds[(uint64_t)data >> 56], 0, a, b, lo, stop), 0, 1);
}

static void lower_op(lowering *l, int64_t op) {
    switch (l->p->code[op]) {
    case -1: lower_input(l, op); break;
    case 0: case 1: lower_sum(l, op); break;
    case 2: case -2: lower_relu(l, op); break;
    case 3: case -3: lower_quant(l, op); break;
    case 4: lower_add_const(l, op); break;
    case 5: lower_const(l, op); break;
    case 6: case -6: lower_mux(l, op); break;
    case 7: lower_mul(l, op); break;
    case 8: lower_table(l, op); break;
    case 9: case -9: lower_bit_unary(l, op); break;
    default: lower_bit_binary(l, op);
    }
}

static void lower_output(lowering *l, int64_t j) {
    const program *p = l->p;
    int64_t op = p->out_idx[j], w = op < 0 ? 0 : width(p, op);
    l->now = (int32_t)(p->n + j);
    uint32_t n = 0;
    if (w) {
        vector v = value_of(l, op);
        int64_t lo = -p->f[op];
        int negate = p->out_neg[j] != 0;
        if (negate) {
            v = negated(l, 0, v, lo + w + 1);
        }
        n = (uint32_t)(w + (negate || !p->k[op])); /* the top bit is the sign */
        l->widest_out = max64(l->widest_out, n);
        uint32_t *words = begin(l, K_STORE, (uint32_t)j, n);
        if (!words) return;
        for (uint32_t q = 0; q < n; q++) *words++ = at(&v, lo + q);
        finish(l, words, n);
    } else {
        uint32_t *words = begin(l, K_STORE, (uint32_t)j, 0);
        if (words) finish(l, words, 0);
    }
}

/* ------------------------------------------------------------------ schedule */

/* Depth first from the outputs, operands in order, so that a value is used soon after it is made; then what no
 * output needs. Without locality: program order. Returns the number of ops that outputs need. */
static int64_t schedule(const program *p, int32_t *order, uint8_t *seen, int32_t *stack) {
    int64_t done = 0, needed = 0;
    memset(seen, 0, (size_t)p->n);
    for (int64_t root = 0; root < p->n_out + p->n; root++) {
        int64_t op = root < p->n_out ? p->out_idx[root] : root - p->n_out;
        int64_t depth = 0, from[3];
        if (root == p->n_out) needed = done;
        if (op < 0 || seen[op]) continue;
        seen[op] = 1;
        stack[depth++] = (int32_t)op;
        while (depth) {
            /* seen: 1 + the number of operands visited; 0 not reached; 5 placed */
            int32_t top = stack[depth - 1];
            int count = operands(p, top, from);
            while (seen[top] <= count && seen[from[seen[top] - 1]]) seen[top]++;
            if (seen[top] <= count) {
                int64_t next = from[seen[top]++ - 1];
                seen[next] = 1;
                stack[depth++] = (int32_t)next;
            } else {
                seen[top] = 5;
                order[done++] = top;
                depth--;
            }
        }
    }
    if (p->n == 0 || p->n_out + p->n == 0) needed = done;
    if (!p->locality) { /* the same ops, in program order: those that are needed first */
        uint8_t *is_needed = seen;
        memset(is_needed, 0, (size_t)p->n);
        for (int64_t j = 0; j < needed; j++) is_needed[order[j]] = 1;
        int64_t a = 0, b = needed;
        for (int64_t op = 0; op < p->n; op++) order[is_needed[op] ? a++ : b++] = (int32_t)op;
    }
    return needed;
}

/* ------------------------------------------------------------------ sweep and allocate */

#define LAST 0x80000000u /* on an operand: nothing reads this bit after this step */
#define DROPPED 0xFFu

static void mark(uint8_t *needed, uint32_t *operand) {
    if (*operand < FIRST_FREE || needed[*operand]) return;
    needed[*operand] = 1;
    *operand |= LAST;
}

/* Backwards over the runs: shorten and drop what nothing needs, find the last read of every bit. */
static void sweep(lowering *l, uint8_t *needed) {
    for (size_t r = l->n_runs; r-- > 0;) {
        uint32_t *run = l->stream + l->starts[r], kind = run[0] & 0xFF, n = run[0] >> 8, *step = run + 2;
        int words = KIND[kind].words, result = KIND[kind].result;
        if (kind == K_TABLE) {
            uint32_t in = step[0], out = step[1], any = 0;
            for (uint32_t j = 0; j < out; j++) any |= needed[step[2 + in + j]];
            if (any || l->lookups[run[1]].may_break)
                for (uint32_t j = 0; j < in; j++) mark(needed, &step[2 + j]);
            else
                run[0] = DROPPED;
            continue;
        }
        if (KIND[kind].chain) {
            while (n && !needed[step[(size_t)(n - 1) * words + result]]) n--;
        } else if (kind == K_LOAD) {
            uint32_t any = 0;
            for (uint32_t j = 0; j < n; j++) any |= needed[step[j]];
            if (!any) n = 0;
        }
        /* Steps of a gate may feed later ones of the same run; those that nothing needs fall out. */
        uint32_t kept = 0;
        for (uint32_t j = n; j-- > 0;) {
            uint32_t *from = step + (size_t)j * words, *to = step + (size_t)(n - 1 - kept) * words;
            if (result >= 0 && kind != K_LOAD && !KIND[kind].chain && !needed[from[result]]) continue;
            for (int q = 0; q < words; q++)
                if (q != result) mark(needed, &from[q]);
            if (to != from) memmove(to, from, (size_t)words * sizeof *step);
            kept++;
        }
        if (kept < n) memmove(step, step + (size_t)(n - kept) * words, (size_t)kept * words * sizeof *step);
        n = kept;
        run[0] = n || kind == K_STORE ? kind | n << 8 : DROPPED;
        if (n && KIND[kind].aux) mark(needed, &run[1]);
    }
}

typedef struct {
    uint32_t *plane; /* of a bit */
    uint32_t *spare; /* planes free again */
    uint32_t n_spare, n_planes;
} planes_in_use;

static uint32_t plane_of(planes_in_use *u, uint32_t word) {
    uint32_t b = word & ~LAST, found = b < FIRST_FREE ? b : u->plane[b];
    if (word & LAST) u->spare[u->n_spare++] = found;
    return found;
}

static uint32_t new_plane(planes_in_use *u, const uint8_t *needed, uint32_t b) {
    if (!needed[b]) return SCRAP;
    return u->plane[b] = u->n_spare ? u->spare[--u->n_spare] : u->n_planes++;
}

/* Forwards: bits become planes, dropped runs disappear. */
static uint32_t *allocate(lowering *l, const uint8_t *needed, planes_in_use *u) {
    uint32_t *code = malloc((l->length + l->n_runs + 1) * sizeof *code), *to = code;
    size_t kept = 0;
    l->heads = malloc((l->n_runs + 1) * sizeof *l->heads);
    for (size_t r = 0; code && l->heads && r < l->n_runs; r++) {
        uint32_t *run = l->stream + l->starts[r], kind = run[0] & 0xFF, n = run[0] >> 8, *start = to;
        if (kind == DROPPED) continue;
        const uint32_t *step = run + 2;
        int words = KIND[kind].words, result = KIND[kind].result;
        l->owner[kept] = l->owner[r];
        run_head *head = l->heads + kept++;
        head->kind = (uint16_t)kind;
        head->aux = KIND[kind].aux ? plane_of(u, run[1]) * PLANE_STEP : run[1];
        if (kind == K_TABLE) {
            uint32_t in = step[0], out = step[1];
            *to++ = in;
            *to++ = out;
            step += 2;
            for (uint32_t j = 0; j < in; j++) *to++ = plane_of(u, *step++) * PLANE_STEP;
            for (uint32_t j = 0; j < out; j++) *to++ = new_plane(u, needed, *step++) * PLANE_STEP;
        } else {
            for (uint32_t j = 0; j < n; j++, to += words, step += words) {
                for (int q = 0; q < words; q++)
                    if (q != result) to[q] = plane_of(u, step[q]) * PLANE_STEP;
                if (result >= 0) to[result] = new_plane(u, needed, step[result]) * PLANE_STEP;
            }
        }
        head->words = (uint16_t)(to - start);
        if (to - start > UINT16_MAX) l->failed = 1;
    }
    l->n_runs = kept;
    l->length = code ? (size_t)(to - code) : 0;
    return code;
}

/* ------------------------------------------------------------------ all of it */

static void lowering_free(lowering *l) {
    void *all[] = {l->at,    l->pool,   l->order,   l->uses,   l->reader, l->deferred, l->safe,   l->ranges,
                   l->in_lo, l->in_n,   l->in_at,   l->in_loaded, l->input_bits, l->lookups, l->stream, l->starts,
                   l->owner, l->heads};
    for (size_t j = 0; j < sizeof all / sizeof *all; j++) free(all[j]);
    for (int j = 0; j < 6; j++) free(l->scratch[j]);
}

#define NEW(field, count) ((l->field = calloc((size_t)(count) + 1, sizeof *l->field)) != NULL)

/* Fills l; returns the number of planes, or 0 if memory does not suffice or the program is beyond this engine. */
static uint32_t lower(lowering *l, const program *p) {
    memset(l, 0, sizeof *l);
    l->p = p;
    l->next = FIRST_FREE;
    int64_t n = p->n, total = 0, bits = 0, n_lookups = 0;
    if (n > INT32_MAX / 2 || p->n_out > INT32_MAX / 2) return 0;
    if (!(NEW(at, n) && NEW(order, n) && NEW(uses, n) && NEW(reader, n) && NEW(deferred, n) && NEW(safe, n) &&
          NEW(ranges, n) && NEW(in_lo, p->n_in) && NEW(in_n, p->n_in) && NEW(in_at, p->n_in) && NEW(in_loaded, p->n_in)))
        return 0;
    for (int64_t op = 0; op < n; op++) {
        l->at[op] = total;
        total += width(p, op);
        n_lookups += p->code[op] == 8;
        if (p->code[op] == -1 && width(p, op)) { /* an input element spans the ops that read it */
            int64_t j = p->id0[op], lo = -p->f[op] - p->inp_shift[j], hi = lo + width(p, op);
            int64_t old_hi = l->in_lo[j] + l->in_n[j];
            if (!l->in_n[j] || lo < l->in_lo[j]) {
                if (!l->in_n[j]) old_hi = hi;
                l->in_lo[j] = lo;
            }
            l->in_n[j] = max64(old_hi, hi) - l->in_lo[j];
        }
    }
    for (int64_t j = 0; j < p->n_in; j++) {
        l->in_at[j] = bits;
        bits += l->in_n[j];
        l->widest_in = max64(l->widest_in, l->in_n[j]);
        if (l->in_n[j] > 64) return 0;
    }
    if (total > MAX_POOL || bits > MAX_POOL || !(NEW(pool, total) && NEW(input_bits, bits) && NEW(lookups, n_lookups)))
        return 0;
    int32_t *stack = malloc(((size_t)n + 1) * sizeof *stack), *heads = malloc(((size_t)n + 1) * sizeof *heads);
    int32_t *tails = malloc(((size_t)p->n_out + 1) * sizeof *tails);
    if (!stack || !heads || !tails) {
        free(stack), free(heads), free(tails);
        return 0;
    }
    l->needed = schedule(p, l->order, l->deferred, stack);
    int64_t last = p->checked ? n : l->needed;
    for (int64_t op = 0; op < n; op++) heads[op] = -1;
    for (int64_t j = p->n_out; j-- > 0;)
        if (p->out_idx[j] >= 0) {
            tails[j] = heads[p->out_idx[j]];
            heads[p->out_idx[j]] = (int32_t)j;
            l->uses[p->out_idx[j]] += 2;
        }
    for (int64_t q = 0; q < last; q++) {
        int64_t from[3];
        int count = operands(p, l->order[q], from);
        for (int j = 0; j < count; j++) {
            l->uses[from[j]]++;
            l->reader[from[j]] = l->order[q];
        }
    }
    memset(l->deferred, 0, (size_t)n);
    for (int64_t q = 0; q < last && !l->failed; q++) {
        l->now = l->order[q];
        lower_op(l, l->now);
        for (int32_t j = heads[l->now]; j >= 0 && !l->failed; j = tails[j]) lower_output(l, j);
    }
    for (int64_t j = 0; j < p->n_out && !l->failed; j++)
        if (p->out_idx[j] < 0) lower_output(l, j);
    free(stack), free(heads), free(tails);
    if (l->failed || l->widest_out > 64 || l->next >= LAST / PLANE_STEP) return 0;
    uint8_t *needed = calloc(l->next, 1);
    planes_in_use u = {malloc((size_t)l->next * sizeof(uint32_t)), malloc((size_t)l->next * sizeof(uint32_t)), 0, FIRST_FREE};
    if (needed && u.plane && u.spare) {
        sweep(l, needed);
        uint32_t *code = allocate(l, needed, &u);
        free(l->stream);
        l->stream = code;
        if (!code || l->failed) u.n_planes = 0;
    } else {
        u.n_planes = 0;
    }
    free(needed), free(u.plane), free(u.spare);
    return u.n_planes;
}

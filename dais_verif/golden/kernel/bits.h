/* Values as vectors of bits, each identified by a number: shifts at no cost, sums, products and gates. */

/* A vector of bits: position p has weight 2**p; below lo all zero, from lo + n on all ext. */
typedef struct {
    int64_t lo, n;
    const bit *bits;
    bit ext;
} vector;

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
    terms u = *t;
    if (u.n == u.negative) { /* nothing to subtract from */
        for (int j = u.n++; j > 0; j--) u.term[j] = u.term[j - 1];
        u.term[0] = NOTHING;
        u.term[0].lo = u.n > 1 ? u.term[1].lo : 0;
    }
    if (u.n == 1) return u.term[0];
    int64_t lo = u.term[0].lo, end = end_of(&u.term[0]), is_signed = u.negative;
    for (int j = 0; j < u.n; j++) {
        lo = min64(lo, u.term[j].lo);
        end = max64(end, end_of(&u.term[j]));
        is_signed |= u.term[j].ext != ZERO;
    }
    /* The bits that a sum needs beyond those of its terms and a sign. */
    int64_t more = u.n > 4 ? 3 : u.n > 2 ? 2 : 1;
    int64_t stop = max64(min64(end + more + (is_signed != 0), need), lo), p = lo;
    bit *out = scratch(l, into, stop - lo);
    if (!out) return NOTHING;
    for (; p < stop; p++) { /* while there is only one term */
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

/* The result of a gate of two bits if no gate is needed: a constant or one of them; else SCRAP. */
static bit without_gate(uint32_t kind, bit a, bit b) {
    if (a == b) return kind == K_XOR ? ZERO : a;
    if (kind != K_AND && (a == ZERO || b == ZERO)) return a == ZERO ? b : a;
    if (kind == K_AND && (a == ONE || b == ONE)) return a == ONE ? b : a;
    if (kind == K_AND && (a == ZERO || b == ZERO)) return ZERO;
    return kind == K_OR && (a == ONE || b == ONE) ? ONE : SCRAP;
}

/* Bit by bit over positions lo .. stop - 1. */
static vector bitwise(lowering *l, int into, uint32_t kind, vector a, vector b, int64_t lo, int64_t stop) {
    stop = max64(stop, lo);
    bit *out = scratch(l, into, stop - lo);
    uint32_t n = 0, *w = out && stop > lo ? begin(l, kind, 0, 3 * (size_t)(stop - lo)) : NULL;
    if (!w) return NOTHING;
    for (int64_t p = lo; p < stop; p++) {
        bit known = without_gate(kind, at(&a, p), at(&b, p));
        out[p - lo] = known;
        if (known != SCRAP) continue;
        w[0] = at(&a, p);
        w[1] = at(&b, p);
        w[2] = out[p - lo] = l->next++;
        w += 3;
        n++;
    }
    if (n) finish(l, w, n);
    else l->n_runs--;
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

/* Ranges of values, which show the promises that need no check, and the checks of the others. */

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

/* The range after quantisation to the op's own type; returns true if wrapping is excluded. */
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

#define EVERYTHING ((int64_t)1 << 40)

/* The role of quantisation in an op: its meaning, or a promise that it changes nothing. The exact result may be cut at
 * the top of the type, if no bit above is used; then it does not show whether the promise is kept. */
enum { IMPLIED, PROMISED, PROMISED_BUT_CUT };

/* The position from which on no bit of the exact result is used, and the role of its quantisation then. */
static int64_t needed_of(const lowering *l, int64_t op, int fits) {
    return fits || !l->p->checked ? width(l->p, op) - l->p->f[op] : EVERYTHING;
}

static int promise_of(const lowering *l, int fits) { return fits || l->p->checked ? PROMISED : PROMISED_BUT_CUT; }

/* Take the op's bits from its exact result, and report rows that break a promise. fits: wrapping is excluded. */
static void quantise(lowering *l, int64_t op, vector exact, int fits, int promise) {
    int64_t w = width(l->p, op), lo = -l->p->f[op];
    bit *bits = l->pool + l->at[op];
    for (int64_t j = 0; j < w; j++) bits[j] = at(&exact, lo + j);
    if (promise == IMPLIED) return;
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
    l->safe[op] = n == 0 && promise == PROMISED;
}

/* Watched programs: probes of every op and output, recorded during the computation (../seen.py gives the layout).
 * Probes are lowered here; seen.h holds the code that executes them. */

static void put_watch(lowering *l, int64_t place, int is_signed, int64_t lookup, uint32_t kind, uint32_t *stop, uint32_t n) {
    watched found = {place, (int32_t)lookup, is_signed};
    l->stream[l->starts[l->n_runs - 1]] = kind;
    l->stream[l->starts[l->n_runs - 1] + 1] = (uint32_t)l->n_watched;
    l->watched[l->n_watched++] = found;
    finish(l, stop, n);
}

/* The bits of a value. */
static void watch_value(lowering *l, int64_t place, const vector *v, int64_t lo, int64_t w, int is_signed) {
    uint32_t *words = w ? begin(l, K_SEEN, 0, (size_t)w) : NULL;
    if (!words) return;
    for (int64_t j = 0; j < w; j++) *words++ = at(v, lo + j);
    put_watch(l, place, is_signed, 0, K_SEEN, words, (uint32_t)w);
}

/* Record if bits differ: pairs are appended to words, which begin_pairs returned. */
static uint32_t *begin_pairs(lowering *l, bit condition, int64_t most) {
    uint32_t *words = begin(l, K_DIFFER, 0, 2 * (size_t)(most + 1));
    if (!words) return NULL;
    words[0] = condition;
    words[1] = ZERO;
    return words + 2;
}

static void put_pair(uint32_t **words, bit a, bit b) {
    if (a == b) return;
    (*words)[0] = a;
    (*words)[1] = b;
    *words += 2;
}

static void end_pairs(lowering *l, int64_t place, uint32_t *words) {
    size_t start = l->starts[l->n_runs - 1] + 2;
    put_watch(l, place, 0, 0, K_DIFFER, words, (uint32_t)((size_t)(words - l->stream) - start) / 2);
}

/* Record if quantisation changes the exact result, at its top and at its bottom. */
static void watch_change(lowering *l, int64_t op, int64_t place, vector exact) {
    int64_t lo = -l->p->f[op], top = lo + width(l->p, op);
    exact = trimmed(exact);
    bit sign = l->p->k[op] ? at(&exact, top - 1) : ZERO;
    uint32_t *words = begin_pairs(l, exact.ext, max64(exact.n, 0) + 1);
    if (!words) return;
    for (int64_t p = max64(top, exact.lo); p < end_of(&exact); p++) put_pair(&words, at(&exact, p), sign);
    put_pair(&words, exact.ext, sign);
    end_pairs(l, place, words);
    words = begin_pairs(l, exact.ext, max64(exact.n, 0) + 1);
    if (!words) return;
    for (int64_t p = exact.lo; p < min64(lo, end_of(&exact)); p++) put_pair(&words, at(&exact, p), ZERO);
    if (end_of(&exact) < lo) put_pair(&words, exact.ext, ZERO);
    end_pairs(l, place + 3, words);
}

/* The positive part of t, all its bits. */
static vector rectified(lowering *l, vector t) {
    if (t.ext == ZERO || t.n <= 0) return t.ext == ZERO ? t : NOTHING;
    bit *bits = scratch(l, 1, t.n);
    uint32_t *s = bits ? begin(l, K_GATE, t.ext, 2 * (size_t)t.n) : NULL;
    if (!s) return NOTHING;
    for (int64_t j = 0; j < t.n; j++, s += 2) {
        s[0] = t.bits[j];
        s[1] = bits[j] = l->next++;
    }
    finish(l, s, (uint32_t)t.n);
    vector r = {t.lo, t.n, bits, ZERO};
    return r;
}

/* The arm that msb chooses, all its bits. */
static vector chosen(lowering *l, bit msb, vector a, vector b) {
    if (msb == ZERO || msb == ONE) return msb == ONE ? a : b;
    int64_t lo = min64(a.lo, b.lo), stop = max64(max64(end_of(&a), end_of(&b)), lo) + 1;
    bit *bits = scratch(l, 1, stop - lo);
    uint32_t *words = bits ? begin(l, K_MUX, msb, 3 * (size_t)(stop - lo)) : NULL;
    if (!words) return NOTHING;
    for (int64_t p = lo; p < stop; p++, words += 3) {
        words[0] = at(&a, p);
        words[1] = at(&b, p);
        words[2] = bits[p - lo] = l->next++;
    }
    finish(l, words, (uint32_t)(stop - lo));
    vector r = {lo, stop - lo, bits, bits[stop - lo - 1]};
    return r;
}

static void watch_mux(lowering *l, int64_t op, int64_t place) {
    const program *p = l->p;
    int64_t c = low32(p->data[op]), cw = width(p, c), lo = -p->f[op], w = width(p, op);
    bit msb = cw ? l->pool[l->at[c] + cw - 1] : ZERO;
    vector a = value_of(l, p->id0[op]), b = shifted(value_of(l, p->id1[op]), high32(p->data[op]));
    if (p->code[op] < 0) b = trimmed(negated(l, 0, b, EVERYTHING));
    watch_change(l, op, place, chosen(l, msb, a, b));
    uint32_t *words = begin_pairs(l, msb, w);
    if (!words) return;
    for (int64_t j = 0; j < w; j++) put_pair(&words, at(&a, lo + j), at(&b, lo + j));
    end_pairs(l, place + 6, words);
}

static void watch_entries(lowering *l, int64_t op, int64_t place) {
    int64_t a = l->p->id0[op], wa = width(l->p, a);
    uint32_t *words = begin(l, K_ENTRIES, 0, (size_t)(wa + 1));
    if (!words) return;
    for (int64_t j = 0; j < wa; j++) *words++ = l->pool[l->at[a] + j];
    if (!wa) *words++ = ZERO;
    put_watch(l, place, 0, l->n_lookups - 1, K_ENTRIES, words, (uint32_t)max64(wa, 1));
}

/* Lower all probes of an op that was just lowered. */
static void watch_op(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t w = width(p, op), place = p->places[op] + 2 * w + 2;
    if (!w || l->failed) return;
    vector v = {-p->f[op], w, l->pool + l->at[op], ZERO};
    watch_value(l, p->places[op], &v, v.lo, w, p->k[op] != 0);
    vector t = NOTHING;
    switch (p->code[op]) {
    case 2: case 3: t = value_of(l, p->id0[op]); break;
    case SHIFT:
        if (p->places[op + 1] - place < 6) return; /* not requested */
        t = shifted(value_of(l, p->id0[op]), p->data[op]);
        break;
    case -2: case -3: t = trimmed(negated(l, 0, value_of(l, p->id0[op]), EVERYTHING)); break;
    case 6: case -6: watch_mux(l, op, place); return;
    case 8: watch_entries(l, op, place); return;
    default: return;
    }
    watch_change(l, op, place, p->code[op] == 2 || p->code[op] == -2 ? rectified(l, t) : t);
}

/* Every op as plane code, by the rules of the semantics page: an exact result, then its quantisation. */

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

/* One term of a sum, before it is quantised: of an ADD or SUB, of an ADD_CONST, of ALIR's sums. */
typedef struct {
    int64_t op, shift; /* op -1: the constant */
    int subtract;
} addend;

static int64_t n_addends(const program *p, int64_t op) { return p->code[op] == SUM ? p->id1[op] : 2; }

static addend addend_of(const program *p, int64_t op, int64_t j) {
    if (p->code[op] == SUM) {
        int64_t t = p->id0[op] + j;
        return (addend){p->term_op[t], p->term_shift[t], p->term_negative[t] != 0};
    }
    if (j == 0) return (addend){p->id0[op], 0, 0};
    if (p->code[op] == 4) return (addend){-1, -p->f[op], 0};
    return (addend){p->id1[op], p->data[op], p->code[op] == 1};
}

static int is_sum(const program *p, int64_t op) {
    return p->code[op] == 0 || p->code[op] == 1 || p->code[op] == 4 || p->code[op] == SUM;
}

/* The terms of a sum are collected. If there are too many, some are added first; the result lies in scratch
 * 1 or 2, alternately. */
typedef struct {
    terms t;
    int64_t lo, need; /* where the lowest of all terms begins; the position from which on no bit of the sum is used */
    int into;
} gathered;

static void gather(lowering *l, gathered *g, vector v, int subtract) {
    /* The first term must not be a subtracted one. */
    if (g->t.n == MOST_TERMS - (g->t.n == g->t.negative)) {
        vector some = sum(l, g->into, &g->t, g->need);
        g->into = 3 - g->into;
        g->t.n = g->t.negative = 0;
        put_term(&g->t, some, 0);
    }
    int before = g->t.n;
    put_term(&g->t, v, subtract);
    if (g->t.n > before) g->lo = min64(g->lo, v.lo);
}

/* The terms of a value: itself, or those of a sum that was deferred into its only reader. */
static void gather_value(lowering *l, gathered *g, int64_t op, int64_t shift, int subtract) {
    if (!l->deferred[op]) {
        gather(l, g, shifted(value_of(l, op), shift), subtract);
        return;
    }
    for (int64_t j = 0; j < n_addends(l->p, op); j++) {
        addend a = addend_of(l->p, op, j);
        gather_value(l, g, a.op, shift + a.shift, subtract ^ a.subtract);
    }
}

/* Terms of a sum, those of its deferred operands included. */
static int64_t count_terms(const lowering *l, int64_t op) {
    int64_t n = 0;
    for (int64_t j = 0; j < n_addends(l->p, op); j++) {
        int64_t from = addend_of(l->p, op, j).op;
        n += from < 0 ? 1 : max64(l->deferred[from], 1);
    }
    return n;
}

/* True if the only reader of op is a sum that can take n terms in its place. */
static int can_defer(const lowering *l, int64_t op, int64_t n) {
    const program *p = l->p;
    int64_t y = l->reader[op];
    if (!p->fuse || p->places || l->uses[op] != 1 || !is_sum(p, y) || n_addends(p, y) > MOST_TERMS) return 0;
    return n + count_terms(l, y) - 1 <= MOST_TERMS;
}

/* The exact sum's range. */
static interval range_of_sum(const lowering *l, int64_t op) {
    interval total = {0, 0, 0, 1};
    for (int64_t j = 0; j < n_addends(l->p, op); j++) {
        addend a = addend_of(l->p, op, j);
        interval x = {l->p->data[op], l->p->data[op], 0, 1};
        if (a.op >= 0) x = interval_of(l, a.op);
        x.f -= a.shift;
        if (a.subtract) x = opposite(x);
        total = j ? sum_of(total, x) : x;
    }
    return total;
}

static void lower_sum(lowering *l, int64_t op) {
    const program *p = l->p;
    int fits = settle(l, op, range_of_sum(l, op)), has_constant = 0;
    gathered g = {.lo = INT64_MAX, .need = needed_of(l, op, fits), .into = 1};
    for (int64_t j = 0; j < n_addends(p, op); j++) {
        addend a = addend_of(p, op, j);
        if (a.op >= 0) {
            gather_value(l, &g, a.op, a.shift, a.subtract);
            continue;
        }
        /* Adding and subtracting the magnitude are the same; zeros above its top bit cost less than ones. */
        int64_t data = p->data[op];
        int opposite = data < 0 && data != INT64_MIN;
        gather(l, &g, constant(l, opposite ? -data : data, -a.shift), a.subtract ^ opposite);
        has_constant = 1;
    }
    int64_t n = count_terms(l, op);
    if (fits && g.lo >= -p->f[op] && !has_constant && n <= MOST_TERMS && can_defer(l, op, n)) {
        l->deferred[op] = (uint8_t)n; /* its reader comes later in the schedule */
        l->safe[op] = 1;
        return;
    }
    quantise(l, op, sum(l, 0, &g.t, g.need), fits, promise_of(l, fits));
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
        quantise(l, op, t, 1, IMPLIED);
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
    int64_t a = l->p->id0[op], top = -l->p->f[op] + width(l->p, op), shift = l->p->code[op] == SHIFT ? l->p->data[op] : 0;
    interval x = interval_of(l, a);
    vector t = shifted(value_of(l, a), shift);
    x.f -= shift;
    if (l->p->code[op] < 0) {
        x = opposite(x);
        t = negated(l, 0, t, top);
    }
    settle(l, op, x);
    quantise(l, op, t, 1, IMPLIED);
}

static void lower_const(lowering *l, int64_t op) {
    interval c = {l->p->data[op], l->p->data[op], l->p->f[op], 1};
    int fits = settle(l, op, c);
    quantise(l, op, constant(l, l->p->data[op], l->p->f[op]), fits, PROMISED);
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
        quantise(l, op, msb == ONE ? a : b, 1, IMPLIED);
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
    int fits = settle(l, op, product_of(interval_of(l, p->id0[op]), interval_of(l, p->id1[op])));
    vector exact = product(l, value_of(l, p->id0[op]), value_of(l, p->id1[op]), needed_of(l, op, fits));
    quantise(l, op, exact, fits, promise_of(l, fits));
}

static void lower_table(lowering *l, int64_t op) {
    const program *p = l->p;
    int64_t a = p->id0[op], wa = width(p, a), w = width(p, op), t = low32(p->data[op]), start = l->table_at[t];
    interval x = interval_of(l, a);
    settle(l, op, UNKNOWN);
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
        vector inverted = bitwise(l, 1, K_XOR, t, ones, min64(t.lo, lo), stop);
        if (!p->k[op]) inverted.ext = ZERO; /* modulo 2**wa */
        quantise(l, op, inverted, 0, PROMISED);
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
    quantise(l, op, truth, 0, PROMISED);
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
    quantise(l, op, bitwise(l, 2, kinds[(uint64_t)data >> 56], a, b, lo, stop), 0, PROMISED);
}

static void lower_op(lowering *l, int64_t op) {
    switch (l->p->code[op]) {
    case -1: lower_input(l, op); break;
    case 0: case 1: case 4: case SUM: lower_sum(l, op); break;
    case 2: case -2: lower_relu(l, op); break;
    case 3: case -3: case SHIFT: lower_quant(l, op); break;
    case 5: lower_const(l, op); break;
    case 6: case -6: lower_mux(l, op); break;
    case 7: lower_mul(l, op); break;
    case 8: lower_table(l, op); break;
    case 9: case -9: lower_bit_unary(l, op); break;
    default: lower_bit_binary(l, op);
    }
}

static void watch_value(lowering *l, int64_t place, const vector *v, int64_t lo, int64_t w, int is_signed);

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
        if (p->places) watch_value(l, p->places[p->n + j], &v, lo, w + negate, negate || p->k[op]);
    } else {
        uint32_t *words = begin(l, K_STORE, (uint32_t)j, 0);
        if (words) finish(l, words, 0);
    }
}

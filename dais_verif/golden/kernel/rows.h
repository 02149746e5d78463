/* A few rows at a time: every op as one instruction on int64, where planes would be mostly empty.
 *
 * Only for programs all of whose exact results fit 63 bits; otherwise planes serve a single row as well. */

enum { R_INPUT, R_ADD, R_SUB, R_RELU, R_COPY, R_CONST, R_MUX, R_MUL, R_TABLE, R_NOT, R_ANY, R_ALL, R_AND, R_OR, R_XOR, R_SUM };

typedef struct {
    uint8_t kind, a_left, b_left, condition_bit;
    int8_t drop;              /* bits that the exact result has below the op's type; negative: above */
    uint8_t bits, is_signed;  /* of the op's type */
    uint8_t may_break;        /* a promise that needs a check */
    uint8_t negate_a, negate_b;
    uint32_t a, b, c, to;     /* values; c of R_INPUT: the input; of R_TABLE: the lookup; of R_SUM: its terms */
    int64_t data;             /* R_CONST and R_ADD with b = to: the constant; R_INPUT: its lowest bit in the element */
    union {
        double scale;                 /* R_INPUT */
        const struct row_term *terms; /* R_SUM */
    };
} row_op;

typedef struct row_term {
    int64_t constant; /* where from is the sum itself */
    uint32_t from;
    uint8_t left, negate;
} row_term;

static int64_t bits_of(int64_t data) {
    uint64_t size = data < 0 ? ~(uint64_t)data : (uint64_t)data;
    return size ? 65 - __builtin_clzll(size) : 1;
}

/* The terms of a sum in row code, and the point and the bits of the exact result. */
static void row_terms_of(const program *p, int64_t op, row_term *to, int64_t *exact, int64_t *bits) {
    int64_t count = n_addends(p, op), widest = 1;
    *exact = INT64_MIN;
    for (int64_t j = 0; j < count; j++) {
        addend a = addend_of(p, op, j);
        *exact = max64(*exact, (a.op < 0 ? 0 : p->f[a.op]) - a.shift);
    }
    for (int64_t j = 0; j < count; j++) {
        addend a = addend_of(p, op, j);
        int64_t left = *exact - ((a.op < 0 ? 0 : p->f[a.op]) - a.shift), w = a.op < 0 ? bits_of(p->data[op]) : width(p, a.op) + 1;
        widest = max64(widest, left > 62 ? 99 : w + left);
        to[j] = (row_term){p->data[op], (uint32_t)(a.op < 0 ? op : a.op), (uint8_t)min64(left, 62), (uint8_t)a.subtract};
    }
    *bits = widest + (64 - __builtin_clzll((uint64_t)count));
}

/* The row code of a lowered program, or NULL if it needs more than int64. */
static row_op *row_code(const lowering *l, int64_t *count, row_term **terms) {
    const program *p = l->p;
    int64_t last = p->checked ? p->n : l->needed, lookups = 0, n_terms = 0;
    for (int64_t q = 0; q < last; q++)
        if (p->code[l->order[q]] == SUM) n_terms += p->id1[l->order[q]];
    row_op *code = malloc(((size_t)last + 1) * sizeof *code);
    *terms = malloc(((size_t)n_terms + 1) * sizeof **terms);
    if (!*terms) {
        free(code);
        return NULL;
    }
    n_terms = 0;
    for (int64_t q = 0; code && q < last; q++) {
        int64_t op = l->order[q], w = width(p, op), f = p->f[op], a = 0, b = 0, exact = f, bits = 0;
        int opcode = (int)p->code[op], n = opcode == SUM ? 0 : (int)n_operands(p, op);
        int64_t data = p->data[op], shift = opcode == 0 || opcode == 1 ? data : opcode == 10 ? low32(data) : 0;
        if (opcode == 6 || opcode == -6) shift = high32(data);
        if (n > 0) a = p->id0[op];
        if (n > 1) b = p->id1[op];
        int64_t fa = n > 0 ? p->f[a] - (opcode == SHIFT ? data : 0) : f, fb = n > 1 ? p->f[b] - shift : opcode == 4 ? f : fa;
        int64_t wa = n > 0 ? width(p, a) : 0, wb = n > 1 ? width(p, b) : opcode == 4 ? 64 : 0;
        row_op r = {.bits = (uint8_t)w, .is_signed = w && p->k[op], .a = (uint32_t)a, .b = (uint32_t)b, .to = (uint32_t)op};
        int promise = 1;
        if (opcode == 4) wb = bits_of(data);
        exact = max64(fa, fb);
        bits = max64(wa + exact - fa, wb + exact - fb) + 2;
        if (exact - fa > 62 || exact - fb > 62) bits = 99;
        r.a_left = (uint8_t)min64(exact - fa, 62), r.b_left = (uint8_t)min64(exact - fb, 62);
        switch (opcode) {
        case -1: {
            int64_t j = p->id0[op], scale = f + p->inp_shift[j];
            r.kind = R_INPUT, r.c = (uint32_t)j, r.data = -scale - l->in_lo[j], promise = 0;
            bits = w + 1;
            if (scale < -900 || scale > 900) bits = 99;
            else r.scale = ldexp(1, (int)scale);
            exact = f;
            break;
        }
        case 0: r.kind = R_ADD; break;
        case 1: r.kind = R_SUB; break;
        case 2: case -2: r.kind = R_RELU, r.negate_a = opcode < 0, promise = 0; break;
        case 3: case -3: case SHIFT: r.kind = R_COPY, r.negate_a = opcode < 0, promise = 0; break;
        case 4:
            r.kind = R_ADD, r.b = (uint32_t)op; /* its own value holds the constant until it is computed */
            r.data = bits > 63 ? 0 : data;
            break;
        case 5:
            r.kind = R_CONST, r.data = data, exact = f;
            bits = 64 - (data < 0 ? __builtin_clzll(~(uint64_t)data | 1) : __builtin_clzll((uint64_t)data | 1)) + 1;
            break;
        case SUM:
            r.kind = R_SUM, r.a = r.b = (uint32_t)op, r.c = (uint32_t)p->id1[op], r.terms = *terms + n_terms;
            row_terms_of(p, op, *terms + n_terms, &exact, &bits);
            n_terms += p->id1[op];
            break;
        case 6: case -6: {
            int64_t c = low32(data);
            r.kind = R_MUX, r.c = (uint32_t)c, r.condition_bit = (uint8_t)max64(width(p, c) - 1, 0);
            r.negate_b = opcode < 0, promise = 0;
            bits = max64(bits, width(p, c) + 1);
            break;
        }
        case 7: r.kind = R_MUL, exact = fa + fb, bits = wa + wb + 2, r.a_left = r.b_left = 0; break;
        case 8:
            r.kind = R_TABLE, r.c = (uint32_t)lookups++, exact = f, bits = 34, r.a_left = 0;
            break;
        case 9: case -9:
            r.kind = data == 0 ? R_NOT : data == 1 ? R_ANY : R_ALL;
            r.negate_a = opcode < 0;
            r.condition_bit = (uint8_t)wa;
            r.data = data == 0 && !p->k[op];
            r.a_left = 0;
            exact = data == 0 ? fa : 0;
            bits = wa + 2;
            break;
        default:
            r.kind = (uint8_t)(R_AND + ((uint64_t)data >> 56));
            r.negate_a = data >> 32 & 1, r.negate_b = data >> 33 & 1;
        }
        int64_t drop = exact - f;
        if (bits > 63 || w > 62 || bits + max64(-drop, 0) > 63 || drop > 62) {
            free(code);
            return NULL;
        }
        r.drop = (int8_t)drop;
        r.may_break = promise && p->checked && !l->safe[op];
        code[q] = r;
    }
    *count = last;
    return code;
}

/* True if all inputs of a row are numbers, including unused ones. */
static int finite_row(block *io, int64_t row) {
    for (int64_t j = 0; io->x_kind == REAL && j < io->n_in; j++)
        if (!isfinite(real_at(input_at(io, row, j), io->x_size))) {
            io->bad_row = row;
            return 0;
        }
    return 1;
}

static int64_t read_row(block *io, const row_op *r, int64_t row) {
    const char *x = input_at(io, row, r->c);
    if (io->x_kind == REAL) {
        double v = real_at(x, io->x_size), s = v * r->scale;
        if (!(fabs(s) < 0x1p62) || (s == 0 && v != 0)) return far_away(io, v, r->scale, row);
        int64_t t = (int64_t)s;
        return t - ((double)t > s);
    }
    int64_t by = r->data + (io->shift ? io->shift[r->c] : 0), above = 64 - 8 * io->x_size;
    uint64_t v = 0;
    memcpy(&v, x, (size_t)io->x_size); /* integers are little-endian */
    if (io->x_kind == SIGNED) v = (uint64_t)((int64_t)(v << above) >> above);
    if (by < 0) return by > -64 ? (int64_t)(v << -by) : 0;
    if (io->x_kind == SIGNED) return (int64_t)v >> min64(by, 63);
    return by < 64 ? (int64_t)(v >> by) : 0;
}

/* A separate function, so that it does not affect the register allocation of the other ops. */
static __attribute__((noinline)) int64_t sum_row(const row_op *r, const int64_t *v) {
    uint64_t x = 0;
    for (const row_term *t = r->terms, *end = t + r->c; t < end; t++) {
        uint64_t y = (uint64_t)(t->from == r->to ? t->constant : v[t->from]) << t->left;
        x = t->negate ? x - y : x + y;
    }
    return (int64_t)x;
}

/* Execute one row; returns true if it breaks a promise. */
static int run_row(const row_op *code, int64_t n, int64_t *v, block *io, int64_t row) {
    int broken = 0;
    for (const row_op *r = code; r < code + n; r++) {
        int64_t x, a = v[r->a], b = v[r->b];
        switch (r->kind) {
        case R_INPUT: x = read_row(io, r, row); break;
        case R_ADD:
            if (r->b == r->to) b = r->data;
            x = (int64_t)(((uint64_t)a << r->a_left) + ((uint64_t)b << r->b_left));
            break;
        case R_SUB: x = (int64_t)(((uint64_t)a << r->a_left) - ((uint64_t)b << r->b_left)); break;
        case R_RELU:
            if (r->negate_a) a = -a;
            x = a > 0 ? a : 0;
            break;
        case R_COPY: x = r->negate_a ? -a : a; break;
        case R_CONST: x = r->data; break;
        case R_MUX:
            if (r->negate_b) b = -b;
            x = v[r->c] >> r->condition_bit & 1 ? (int64_t)((uint64_t)a << r->a_left) : (int64_t)((uint64_t)b << r->b_left);
            break;
        case R_MUL: x = a * b; break;
        case R_SUM: x = sum_row(r, v); break;
        case R_TABLE: {
            const lookup *t = &io->lookups[r->c];
            uint32_t index = (uint32_t)a - (uint32_t)t->offset;
            broken |= r->may_break && index >= t->size;
            x = t->entries[index < t->size ? index : t->size];
            break;
        }
        case R_NOT:
            x = ~(r->negate_a ? -a : a);
            if (r->data) x &= (int64_t)(((uint64_t)1 << r->condition_bit) - 1);
            break;
        case R_ANY: x = a != 0; break;
        case R_ALL: {
            int64_t ones = (int64_t)(((uint64_t)1 << r->condition_bit) - 1);
            x = ((r->negate_a ? -a : a) & ones) == ones;
            break;
        }
        default: {
            a = (int64_t)((uint64_t)(r->negate_a ? -a : a) << r->a_left);
            b = (int64_t)((uint64_t)(r->negate_b ? -b : b) << r->b_left);
            x = r->kind == R_AND ? a & b : r->kind == R_OR ? a | b : a ^ b;
        }
        }
        int64_t grid = r->drop >= 0 ? x >> r->drop : (int64_t)((uint64_t)x << -r->drop);
        uint64_t high = (uint64_t)grid << (63 - r->bits) << 1;
        int64_t y = r->bits == 0 ? 0 : r->is_signed ? (int64_t)high >> (64 - r->bits) : (int64_t)(high >> (64 - r->bits));
        broken |= r->may_break && (y != grid || (r->drop > 0 && (int64_t)((uint64_t)y << r->drop) != x));
        v[r->to] = y;
    }
    return broken;
}

static void write_row(block *io, const int64_t *v, const program *p, int64_t row) {
    for (int64_t j = 0; j < p->n_out; j++) {
        int64_t x = p->out_idx[j] < 0 ? 0 : v[p->out_idx[j]];
        if (p->out_neg[j]) x = -x;
        if (io->y_size == DOUBLES) {
            ((double *)io->y)[row * io->n_out + j] = (double)x * io->out_scale[j];
            continue;
        }
        char *y = io->y + (io->y_rows * j + row) * io->y_size;
        switch (io->y_size) {
        case 1: *(int8_t *)y = (int8_t)x; break;
        case 2: *(int16_t *)y = (int16_t)x; break;
        case 4: *(int32_t *)y = (int32_t)x; break;
        default: *(int64_t *)y = x;
        }
    }
}

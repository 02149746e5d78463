/* The executor of compiled plane code, included once for every instruction set (ISA) of the machine.
 *
 * A plane holds one bit of one value for PLANE_ROWS samples. An ADD is then a chain of full adders over
 * planes, a shift is nothing at all. See compile.h for the code that is run here. */

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2(a, b)
#define FN(name) CAT(name, ISA)

#if defined(__AVX512F__)
typedef __m512i FN(vec);
#define VEC FN(vec)
#define TERNARY(a, b, c, table) _mm512_ternarylogic_epi64(a, b, c, table)
#define XOR3(a, b, c) TERNARY(a, b, c, 0x96)
#define MAJ3(a, b, c) TERNARY(a, b, c, 0xE8)
#define XNOR3(a, b, c) TERNARY(a, b, c, 0x69)
#define MAJ3N(a, b, c) TERNARY(a, b, c, 0xB2) /* majority of a, not b, c */
#define SELECT(s, a, b) TERNARY(s, a, b, 0xCA)
#else
#if defined(__AVX2__)
typedef int64_t FN(vec) __attribute__((vector_size(32), may_alias));
#else
typedef int64_t FN(vec) __attribute__((vector_size(16), may_alias));
#endif
#define VEC FN(vec)
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define MAJ3(a, b, c) (((a) & (b)) | ((c) & ((a) ^ (b))))
#define XNOR3(a, b, c) (~((a) ^ (b) ^ (c)))
#define MAJ3N(a, b, c) (((a) & ~(b)) | ((c) & ~((a) ^ (b))))
#define SELECT(s, a, b) (((s) & (a)) | (~(s) & (b)))
#endif

#define LANES ((int)(PLANE_BYTES / sizeof(VEC)))
#define EACH for (int w = 0; w < LANES; w++)
#define AT(word) ((VEC *)(planes + (size_t)(word) * 8))

#define FULL(s, a, b, c) (s = XOR3(a, b, c), c = MAJ3(a, b, c))
#define FULL_MINUS(s, a, b, c) (s = XNOR3(a, b, c), c = MAJ3N(a, b, c))

/* One step of a run; all loads come before the store, which may reuse an operand's plane. */
#define STEP3(q, ...)                                                                                                  \
    {                                                                                                                  \
        const VEC *pa = AT((q)[0]), *pb = AT((q)[1]);                                                                  \
        VEC *pr = AT((q)[2]);                                                                                          \
        VEC a[LANES], b[LANES], r[LANES];                                                                              \
        EACH { a[w] = pa[w], b[w] = pb[w]; }                                                                           \
        EACH { __VA_ARGS__; }                                                                                          \
        EACH { pr[w] = r[w]; }                                                                                         \
    }
/* A chain carries c (and e) from step to step. */
#define CHAIN(kind, words, c0, e0, ...)                                                                                \
    case kind:                                                                                                         \
        EACH { c[w] = c0, e[w] = e0; }                                                                                 \
        for (; pc < stop; pc += words) STEP##words(pc, __VA_ARGS__)                                                    \
        break
/* One chain of full adders a term after the first; a chain that subtracts starts with a carry. */
#define SUM(terms, negative)                                                                                           \
    case K_SUM(terms, negative): {                                                                                     \
        VEC carry[(terms)-1][LANES];                                                                                   \
        for (int j = 1; j < (terms); j++)                                                                              \
            EACH carry[j - 1][w] = j < (terms) - (negative) ? NONE : ALL;                                              \
        for (; pc < stop; pc += (terms) + 1) {                                                                         \
            VEC *pr = AT(pc[terms]), r[LANES];                                                                         \
            EACH {                                                                                                     \
                r[w] = AT(pc[0])[w];                                                                                   \
                for (int j = 1; j < (terms); j++) {                                                                    \
                    VEC a = r[w], b = AT(pc[j])[w];                                                                    \
                    if (j < (terms) - (negative)) FULL(r[w], a, b, carry[j - 1][w]);                                   \
                    else FULL_MINUS(r[w], a, b, carry[j - 1][w]);                                                      \
                }                                                                                                      \
            }                                                                                                          \
            EACH { pr[w] = r[w]; }                                                                                     \
        }                                                                                                              \
        break;                                                                                                         \
    }
#define GATES(kind, ...)                                                                                               \
    case kind:                                                                                                         \
        for (; pc < stop; pc += 3) STEP3(pc, __VA_ARGS__)                                                              \
        break

/* ------------------------------------------------------------------ rows to planes and back
 *
 * Integers of any size go through arrays of their bytes: bytes[g][row] is byte g of the integer of a row. */

/* Eight planes (fewer: n) from one array of bytes. */
static void FN(spread)(const uint8_t *bytes, const uint32_t *to, uint32_t n, char *planes) {
#if defined(__AVX512F__)
    for (uint32_t q = 0; q < n; q++) {
        char *plane = (char *)AT(to[q]);
        __m512i weight = _mm512_set1_epi8((char)(1 << q));
        for (int j = 0; j < PLANE_BYTES; j += 8) {
            uint64_t m = _mm512_test_epi8_mask(_mm512_loadu_si512(bytes + 8 * j), weight);
            memcpy(plane + j, &m, 8);
        }
    }
#else
    for (int j = 0; j < PLANE_BYTES; j += 16) { /* 128 rows: 8 vectors of 16 rows to 8 vectors of 16 plane bytes */
        bytes16 u[8], v[8];
        memcpy(v, bytes + 8 * j, sizeof v);
        for (int q = 0; q < 8; q++) v[q] = transposed(v[q]);
        parted(u, v), parted(v, u), parted(u, v);
        for (uint32_t q = 0; q < n; q++) memcpy((char *)AT(to[q]) + j, &u[q], 16);
    }
#endif
}

/* One array of bytes from eight planes. */
static void FN(collect)(uint8_t *bytes, const char *const from[8]) {
#if defined(__AVX512F__)
    for (int j = 0; j < PLANE_BYTES; j += 8) {
        __m512i sum = _mm512_setzero_si512();
        for (int q = 0; q < 8; q++) {
            uint64_t m;
            memcpy(&m, from[q] + j, 8);
            sum = _mm512_mask_add_epi8(sum, m, sum, _mm512_set1_epi8((char)(1 << q)));
        }
        _mm512_storeu_si512(bytes + 8 * j, sum);
    }
#else
    for (int j = 0; j < PLANE_BYTES; j += 16) {
        bytes16 u[8], v[8];
        for (int q = 0; q < 8; q++) memcpy(&v[q], from[q] + j, 16);
        woven(u, v), woven(v, u), woven(u, v);
        for (int q = 0; q < 8; q++) u[q] = transposed(u[q]);
        memcpy(bytes + 8 * j, u, sizeof u);
    }
#endif
}

/* Planes of integers whose bytes are given. */
static void FN(spread_all)(uint8_t bytes[8][PLANE_ROWS], const uint32_t *to, uint32_t n, char *planes) {
    for (uint32_t q = 0; q < n; q += 8) FN(spread)(bytes[q / 8], to + q, n - q < 8 ? n - q : 8, planes);
}

/* Bytes of integers of size bytes from n planes, the last of which is the sign. */
static void FN(collect_all)(uint8_t bytes[8][PLANE_ROWS], int size, const uint32_t *from, uint32_t n, char *planes) {
    for (int g = 0; g < size; g++) {
        const char *group[8];
        for (uint32_t q = 0; q < 8; q++) {
            uint32_t b = (uint32_t)g * 8 + q;
            group[q] = (const char *)AT(n == 0 ? ZERO * PLANE_STEP : from[b < n ? b : n - 1]);
        }
        FN(collect)(bytes[g], group);
    }
}

#define SPLIT(type)                                                                                                    \
    for (int g = 0; g < groups; g++) {                                                                                 \
        int by = (int)shift + 8 * g;                                                                                   \
        if (by >= 0)                                                                                                   \
            for (int row = 0; row < PLANE_ROWS; row++)                                                                 \
                bytes[g][row] = (uint8_t)(((const type *)x)[row] >> (by < (int)sizeof(type) * 8 ? by : (int)sizeof(type) * 8 - 1)); \
        else                                                                                                           \
            for (int row = 0; row < PLANE_ROWS; row++)                                                                 \
                bytes[g][row] = by <= -64 ? 0 : (uint8_t)((uint64_t)(int64_t)((const type *)x)[row] << -by);           \
    }                                                                                                                  \
    break

/* Bits 0 .. n - 1 of one input, shifted right by its shift, to planes. */
static void FN(load)(block *io, uint32_t input, uint32_t n, const uint32_t *to, char *planes) {
    int groups = (int)(n + 7) / 8, size;
    int64_t shift = 0;
    uint8_t bytes[8][PLANE_ROWS];
    int64_t padded[PLANE_ROWS];
    const char *x;
    if (io->x_size == DOUBLES) {
        size = io->in_size;
        x = io->in_ints + (size_t)input * STRIDE * (size_t)size;
    } else {
        size = io->x_size;
        x = io->x + (io->x_rows * input + io->first) * size;
        if (io->shift) shift = io->shift[input];
        /* The next block's rows lie far from those of the next input: no hardware prefetcher sees them coming. */
        for (int j = 0; j < PLANE_ROWS * size; j += 64) __builtin_prefetch(x + PLANE_ROWS * size + j);
        if (io->count < PLANE_ROWS) x = memcpy(padded, x, (size_t)(io->count * size));
    }
    if (size == 1 && groups == 1 && shift == 0) {
        FN(spread)((const uint8_t *)x, to, n, planes);
        return;
    }
    switch (size) {
    case 1: SPLIT(int8_t);
    case 2: SPLIT(int16_t);
    case 4: SPLIT(int32_t);
    default: SPLIT(int64_t);
    }
    FN(spread_all)(bytes, to, n, planes);
}

#define BYTE(g) (uint64_t) bytes[g][row] << 8 * g
#define JOIN1 (int8_t)bytes[0][row]
#define JOIN2 (int16_t)(bytes[0][row] | (uint32_t)bytes[1][row] << 8)
#define JOIN3 (int32_t)(bytes[0][row] | (uint32_t)bytes[1][row] << 8 | (uint32_t)(int32_t)(int8_t)bytes[2][row] << 16)
#define JOIN4                                                                                                          \
    (int32_t)(bytes[0][row] | (uint32_t)bytes[1][row] << 8 | (uint32_t)bytes[2][row] << 16 | (uint32_t)bytes[3][row] << 24)
#define JOIN8 (int64_t)(BYTE(0) | BYTE(1) | BYTE(2) | BYTE(3) | BYTE(4) | BYTE(5) | BYTE(6) | BYTE(7))
#define JOIN(type, from)                                                                                               \
    for (int row = 0; row < PLANE_ROWS; row++) ((type *)y)[row] = from;                                                \
    break
#define JOIN_TO(type)                                                                                                  \
    switch (joined) {                                                                                                  \
    case 1: JOIN(type, JOIN1);                                                                                         \
    case 2: JOIN(type, JOIN2);                                                                                         \
    case 3: JOIN(type, JOIN3);                                                                                         \
    case 4: JOIN(type, JOIN4);                                                                                         \
    default: JOIN(type, JOIN8);                                                                                        \
    }                                                                                                                  \
    break

/* One output from its n planes, the last of which is the sign. */
static void FN(store)(block *io, uint32_t output, uint32_t n, const uint32_t *from, char *planes) {
    int size = io->y_size == DOUBLES ? io->out_size : io->y_size, joined = (int)min64(bytes_for(n), size);
    uint8_t bytes[8][PLANE_ROWS];
    int64_t padded[PLANE_ROWS];
    char *y, *place = NULL;
    if (io->y_size == DOUBLES) {
        y = io->out_ints + (size_t)output * STRIDE * (size_t)size;
    } else {
        y = place = io->y + (io->y_rows * output + io->first) * size;
        if (io->count < PLANE_ROWS || io->streams) y = (char *)padded;
    }
    FN(collect_all)(size == 1 ? (uint8_t(*)[PLANE_ROWS])y : bytes, joined, from, n, planes);
    switch (size) {
    case 1: break;
    case 2: JOIN_TO(int16_t);
    case 4: JOIN_TO(int32_t);
    default: JOIN_TO(int64_t);
    }
    if (place && place != y) deliver(io, place, y, (size_t)(io->count * size));
}

/* The float64 rows of a block as integers, one array an input; and back, one array an output. Strips of rows keep
 * what is being walked across in the cache: doubles <-> integers, row by row, then rows <-> columns. */
#define STRIP(n) max64(128, min64(PLANE_ROWS, STRIP_INTS / max64(n, 1) / 8 * 8))
#define FROM_DOUBLES(type, near, flip)                                                                                 \
    for (int64_t top = 0, most = STRIP(io->n_in); top < io->count; top += most) {                                      \
        int64_t rows = min64(most, io->count - top), n = rows * io->n_in, period = io->in_period, far = 0;            \
        const double *x = (const double *)io->x + (io->first + top) * io->n_in;                                        \
        type *strip = (type *)io->strip, *to = (type *)io->in_ints + top;                                              \
        for (int64_t start = 0; start < n; start += period) {                                                          \
            int64_t some = min64(period, n - start);                                                                   \
            for (int64_t j = 0; j < some; j++) {                                                                       \
                double v = x[start + j], s = v * io->in_scale[j];                                                      \
                far |= !(fabs(s) < near) | ((s == 0) & (v != 0));                                                      \
                type t = (type)s;                                                                                      \
                strip[start + j] = (type)(t - ((double)t > s));                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t j = 0; far && j < n; j++) {                                                                       \
            double s = x[j] * io->in_scale[j % io->n_in];                                                              \
            if (!(fabs(s) < near) || (s == 0 && x[j] != 0))                                                            \
                strip[j] = (type)far_away(io, x[j], io->in_scale[j % io->n_in], io->first + top + j / io->n_in,        \
                                          j % io->n_in);                                                               \
        }                                                                                                              \
        flip(strip, io->n_in, 1, to, 1, STRIDE, rows, io->n_in);                                                       \
    }

#define TO_DOUBLES(type, flip)                                                                                         \
    for (int64_t top = 0, most = STRIP(io->n_out); top < io->count; top += most) {                                     \
        int64_t rows = min64(most, io->count - top), n = rows * io->n_out, period = io->out_period;                   \
        double *place = (double *)io->y + (io->first + top) * io->n_out, *y = io->streams ? io->doubles : place;       \
        type *strip = (type *)io->strip;                                                                               \
        flip((const type *)io->out_ints + top, 1, STRIDE, strip, io->n_out, 1, rows, io->n_out);                   \
        for (int64_t start = 0; start < n; start += period) {                                                          \
            int64_t some = min64(period, n - start);                                                                   \
            for (int64_t j = 0; j < some; j++) y[start + j] = (double)strip[start + j] * io->out_scale[j];             \
        }                                                                                                              \
        if (y != place) deliver(io, place, y, (size_t)n * 8);                                                          \
    }

/* to[row * to_row + j * to_column] = from[row * from_row + j * from_column], for all rows and columns. */
#define FLIP(name, type)                                                                                               \
    static void name(const type *restrict from, int64_t from_row, int64_t from_column, type *restrict to,              \
                     int64_t to_row, int64_t to_column, int64_t rows, int64_t columns) {                               \
        for (int64_t j = 0; j < columns; j++)                                                                          \
            for (int64_t row = 0; row < rows; row++)                                                                   \
                to[row * to_row + j * to_column] = from[row * from_row + j * from_column];                             \
    }

FLIP(FN(flip64), int64_t)

/* The same by 8 by 8 matrices. The walk is along columns of `from` if from_column is 1, else along rows. */
static void FN(flip32)(const int32_t *restrict from, int64_t from_row, int64_t from_column, int32_t *restrict to,
                       int64_t to_row, int64_t to_column, int64_t rows, int64_t columns) {
    int along_columns = from_column == 1;
    int64_t whole_rows = rows & ~7, whole_columns = columns & ~7;
    for (int64_t row = 0; row < whole_rows; row += 8)
        for (int64_t j = 0; j < whole_columns; j += 8) {
            eight u[8], v[8];
            const int32_t *a = from + row * from_row + j * from_column;
            int32_t *b = to + row * to_row + j * to_column;
            for (int q = 0; q < 8; q++) memcpy(&v[q], a + q * (along_columns ? from_row : from_column), 32);
            woven_eight(u, v), woven_eight(v, u), woven_eight(u, v);
            for (int q = 0; q < 8; q++) memcpy(b + q * (along_columns ? to_column : to_row), &u[q], 32);
        }
    for (int64_t j = 0; j < columns; j++)
        for (int64_t row = j < whole_columns ? whole_rows : 0; row < rows; row++)
            to[row * to_row + j * to_column] = from[row * from_row + j * from_column];
}

static void FN(from_doubles)(block *io) {
    if (io->in_size == 4) {
        FROM_DOUBLES(int32_t, 0x1p30, FN(flip32))
    } else {
        FROM_DOUBLES(int64_t, 0x1p62, FN(flip64))
    }
}

static void FN(to_doubles)(block *io) {
    if (io->out_size == 4) {
        TO_DOUBLES(int32_t, FN(flip32))
    } else {
        TO_DOUBLES(int64_t, FN(flip64))
    }
}

/* One lookup. Rows out of bounds read the 0 behind the table, and are reported if that breaks a promise. */
static void FN(look_up)(const lookup *t, const uint32_t *pc, char *planes) {
    uint32_t in = pc[0], out = pc[1], from[33], size = t->size;
    uint8_t bytes[8][PLANE_ROWS];
    int32_t index[PLANE_ROWS];
    int64_t value[PLANE_ROWS];
    memcpy(from, pc + 2, in * sizeof *from);
    if (!t->is_signed) from[in++] = ZERO * PLANE_STEP;
    int joined = bytes_for(in), groups = (int)(out + 7) / 8;
    FN(collect_all)(bytes, joined, from, in, planes);
    void *y = index;
    switch (0) {
    default: JOIN_TO(int32_t);
    }
    for (int row = 0; row < PLANE_ROWS; row++) {
        uint32_t u = (uint32_t)index[row] - (uint32_t)t->offset;
        index[row] = (int32_t)(u < size ? u : size);
    }
    int64_t shift = 0;
    const void *x = value;
    if (t->narrow) {
        for (int row = 0; row < PLANE_ROWS; row++) ((int32_t *)value)[row] = t->narrow[index[row]];
        switch (0) {
        default: SPLIT(int32_t);
        }
    } else {
        for (int row = 0; row < PLANE_ROWS; row++) value[row] = t->entries[index[row]];
        switch (0) {
        default: SPLIT(int64_t);
        }
    }
    FN(spread_all)(bytes, pc + 2 + pc[0], out, planes);
    if (t->may_break)
        for (int row = 0; row < PLANE_ROWS; row++)
            ((uint8_t *)AT(BROKEN * PLANE_STEP))[row / 8] |= (uint8_t)(((uint32_t)index[row] == size) << row % 8);
}

/* ------------------------------------------------------------------ the loop */

#define NONE (VEC){0}
#define ALL ~(VEC){0}

static void FN(execute)(const run_head *head, const run_head *end, const uint32_t *pc, char *planes, block *io) {
    for (; head < end; head++) {
        const uint32_t *stop = pc + head->words;
        uint32_t aux = head->aux;
        VEC c[LANES], e[LANES];
        switch (head->kind) {
            SUM(2, 0); SUM(2, 1);
            SUM(3, 0); SUM(3, 1); SUM(3, 2);
            SUM(4, 0); SUM(4, 1); SUM(4, 2); SUM(4, 3);
            SUM(5, 0); SUM(5, 1); SUM(5, 2); SUM(5, 3); SUM(5, 4);
            SUM(6, 0); SUM(6, 1); SUM(6, 2); SUM(6, 3); SUM(6, 4); SUM(6, 5);
            CHAIN(K_MADD, 3, NONE, AT(aux)[w], VEC m = b[w] & e[w]; FULL(r[w], a[w], m, c[w]));
            CHAIN(K_MSUB, 3, ALL, AT(aux)[w], VEC m = b[w] & e[w]; FULL_MINUS(r[w], a[w], m, c[w]));
            CHAIN(K_MUX, 3, NONE, AT(aux)[w], r[w] = SELECT(e[w], a[w], b[w]));
            GATES(K_AND, r[w] = a[w] & b[w]);
            GATES(K_OR, r[w] = a[w] | b[w]);
            GATES(K_XOR, r[w] = a[w] ^ b[w]);
        case K_GATE:
            EACH e[w] = AT(aux)[w];
            for (; pc < stop; pc += 2) EACH AT(pc[1])[w] = AT(pc[0])[w] & ~e[w];
            break;
        case K_BROKEN:
            EACH c[w] = AT(BROKEN * PLANE_STEP)[w];
            for (; pc < stop; pc += 2) EACH c[w] |= AT(pc[0])[w] ^ AT(pc[1])[w];
            EACH AT(BROKEN * PLANE_STEP)[w] = c[w];
            break;
        case K_LOAD: FN(load)(io, aux, head->words, pc, planes); break;
        case K_STORE: FN(store)(io, aux, head->words, pc, planes); break;
        case K_TABLE: FN(look_up)(&io->lookups[aux], pc, planes);
        }
        pc = stop;
    }
}

#undef NONE
#undef ALL
/* The same run by run, each timed. */
static void FN(execute_timed)(const lowering *l, char *planes, block *io) {
    const uint32_t *pc = l->stream;
    for (size_t r = 0; r < l->n_runs; pc += l->heads[r++].words) {
        int64_t before = nanoseconds();
        FN(execute)(l->heads + r, l->heads + r + 1, pc, planes, io);
        io->spent[l->owner[r]] += max64(nanoseconds() - before - io->clock, 0);
    }
}

/* Rows first .. last - 1; returns the first row that breaks a promise, or -1. */
static int64_t FN(run)(const lowering *l, char *planes, block *io, int64_t first, int64_t last) {
    const uint8_t *flags = (const uint8_t *)planes + BROKEN * PLANE_BYTES;
    for (int64_t row = first; row < last; row += PLANE_ROWS) {
        io->first = row;
        io->count = min64(PLANE_ROWS, last - row);
        memset(planes + BROKEN * PLANE_BYTES, 0, PLANE_BYTES);
        if (io->x_size == DOUBLES) FN(from_doubles)(io);
        if (io->bad_row >= 0) return -1;
        if (io->spent) FN(execute_timed)(l, planes, io);
        else FN(execute)(l->heads, l->heads + l->n_runs, l->stream, planes, io);
        if (io->y_size == DOUBLES) FN(to_doubles)(io);
        for (int64_t j = 0; j < io->count; j += 64) {
            uint64_t word;
            memcpy(&word, flags + j / 8, 8);
            if (word && j + __builtin_ctzll(word) < io->count) return row + j + __builtin_ctzll(word);
        }
    }
    return -1;
}

#undef VEC
#undef TERNARY
#undef XOR3
#undef MAJ3
#undef XNOR3
#undef MAJ3N
#undef SELECT
#undef LANES
#undef EACH
#undef AT
#undef FULL
#undef FULL_MINUS
#undef STEP3
#undef CHAIN
#undef SUM
#undef GATES
#undef SPLIT
#undef BYTE
#undef JOIN
#undef JOIN_TO
#undef JOIN1
#undef JOIN2
#undef JOIN3
#undef JOIN4
#undef JOIN8
#undef STRIP
#undef FROM_DOUBLES
#undef TO_DOUBLES
#undef FLIP
#undef FN

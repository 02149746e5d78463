/* The executor of compiled plane code, included once for every instruction set (isa.h).
 *
 * A plane holds one bit of one value for PLANE_ROWS samples. An ADD is then a chain of full adders over
 * planes, a shift costs nothing. See lower.h for the code that is executed here. */

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
/* One chain of full adders per term after the first; a chain that subtracts starts with a carry. */
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

#if defined(__AVX512F__)
/* One lookup by no more than 8 bits, of no more than 16, that breaks no promise: the table of all bytes is held in
 * registers, two of which one instruction reads. */
static void FN(look_up_byte)(const lookup *t, const uint32_t *pc, char *planes) {
    uint32_t in = pc[0], out = pc[1];
    uint8_t bytes[8][PLANE_ROWS];
    int16_t value[PLANE_ROWS], of[256];
    const void *x = value;
    int groups = (int)(out + 7) / 8;
    int64_t shift = 0;
    for (int u = 0; u < 256; u++) {
        uint32_t index = (uint32_t)(t->is_signed ? (int8_t)u : u) - (uint32_t)t->offset;
        of[u] = (int16_t)t->narrow[min64(index, t->size)];
    }
    FN(collect)(bytes[0], pc + 2, in, t->is_signed, planes);
    __m512i part[8];
    for (int j = 0; j < 8; j++) part[j] = _mm512_loadu_si512(of + 32 * j);
    for (int row = 0; row < PLANE_ROWS; row += 32) {
        __m512i u = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(bytes[0] + row)));
        __mmask32 upper = _mm512_test_epi16_mask(u, _mm512_set1_epi16(64));
        __mmask32 top = _mm512_test_epi16_mask(u, _mm512_set1_epi16(128));
        __m512i y[4];
        for (int j = 0; j < 4; j++) y[j] = _mm512_permutex2var_epi16(part[2 * j], u, part[2 * j + 1]);
        y[0] = _mm512_mask_blend_epi16(upper, y[0], y[1]), y[2] = _mm512_mask_blend_epi16(upper, y[2], y[3]);
        _mm512_storeu_si512(value + row, _mm512_mask_blend_epi16(top, y[0], y[2]));
    }
    switch (0) {
    default: SPLIT(int16_t);
    }
    FN(spread_all)(bytes, pc + 2 + in, out, planes);
}
#endif

/* The index that each row looks up, from its in planes; the size of the table where it is out of bounds. */
static void FN(find)(const lookup *t, const uint32_t *pc, uint32_t in, char *planes, int32_t *index) {
    uint8_t bytes[8][PLANE_ROWS];
    uint32_t from[33], size = t->size;
    memcpy(from, pc, in * sizeof *from);
    if (!t->is_signed) from[in++] = ZERO * PLANE_STEP;
    int joined = bytes_for(in);
    FN(collect_all)(bytes, joined, from, in, planes);
    void *y = index;
    switch (0) {
    default: JOIN_TO(int32_t);
    }
    for (int row = 0; row < PLANE_ROWS; row++) {
        uint32_t u = (uint32_t)index[row] - (uint32_t)t->offset;
        index[row] = (int32_t)(u < size ? u : size);
    }
}

/* One lookup. Rows out of bounds read the 0 after the table, and are reported if that breaks a promise. */
static void FN(look_up)(const lookup *t, const uint32_t *pc, char *planes) {
    uint32_t in = pc[0], out = pc[1], size = t->size;
#if defined(__AVX512F__)
    if (in <= 8 && out <= 16 && t->narrow && !t->may_break) {
        FN(look_up_byte)(t, pc, planes);
        return;
    }
#endif
    uint8_t bytes[8][PLANE_ROWS];
    int32_t index[PLANE_ROWS];
    int64_t value[PLANE_ROWS];
    int groups = (int)(out + 7) / 8;
    FN(find)(t, pc + 2, in, planes, index);
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

#include "seen.h"

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
        case K_TABLE: FN(look_up)(&io->lookups[aux], pc, planes); break;
        case K_SEEN:
        case K_DIFFER:
        case K_ENTRIES:
            if (io->seen && !io->closed[aux]) FN(see)(io, aux, head, pc, planes);
        }
        pc = stop;
    }
}

#undef NONE
#undef ALL
/* Execute run by run, and time each run. */
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
        if (io->seen) FN(mark_valid)(io, planes);
        if (io->in_ints) FN(to_columns)(io);
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

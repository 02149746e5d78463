/* Lowering: a DAIS program becomes plane code, one full adder, gate or multiplexer per bit.
 *
 * A value is a vector of bits, each named by a number; bits that are copies, constants or sign extensions are
 * the same number again, so shifts, truncation, wrapping and sign extension cost nothing. In four steps:
 *   order     ops depth first from the outputs (schedule.h)
 *   emit      ops -> runs over bits that are written once (ops.h)
 *   sweep     backwards: drop dead code (assign.h)
 *   allocate  forwards: bits -> planes, each plane reused after the last read of its bit (assign.h) */

#include "code.h"

#include "bits.h"

#include "ranges.h"

#include "ops.h"

#include "watch.h"

#include "schedule.h"

#include "assign.h"

static void lowering_free(lowering *l) {
    void *all[] = {l->at,    l->pool,   l->order,   l->uses,   l->reader, l->deferred, l->safe,   l->ranges,
                   l->in_lo, l->in_n,   l->in_at,   l->in_loaded, l->input_bits, l->table_at, l->lookups, l->stream, l->starts,
                   l->owner, l->heads, l->watched};
    for (size_t j = 0; j < sizeof all / sizeof *all; j++) free(all[j]);
    for (int j = 0; j < SCRATCH; j++) free(l->scratch[j]);
}

#define NEW(field, count) ((l->field = calloc((size_t)(count) + 1, sizeof *l->field)) != NULL)

/* Fills l; returns the number of planes, or 0 if memory does not suffice or this engine cannot run the program. */
static uint32_t lower(lowering *l, const program *p) {
    memset(l, 0, sizeof *l);
    l->p = p;
    l->next = FIRST_FREE;
    int64_t n = p->n, total = 0, bits = 0, n_lookups = 0;
    if (n > INT32_MAX / 2 || p->n_out > INT32_MAX / 2) return 0;
    if (!(NEW(at, n) && NEW(order, n) && NEW(uses, n) && NEW(reader, n) && NEW(deferred, n) && NEW(safe, n) &&
          NEW(ranges, n) && NEW(in_lo, p->n_in) && NEW(in_n, p->n_in) && NEW(in_at, p->n_in) && NEW(in_loaded, p->n_in) &&
          NEW(table_at, p->n_tables)))
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
    /* At most one value and three differences per op. */
    if (p->places && !NEW(watched, 4 * n + p->n_out)) return 0;
    for (int64_t t = 0, start = 0; t < p->n_tables; start += p->table_size[t++] + 1) l->table_at[t] = start;
    int32_t *seen = calloc((size_t)n + 1, sizeof *seen);
    int32_t *stack = malloc(((size_t)n + 1) * sizeof *stack), *heads = malloc(((size_t)n + 1) * sizeof *heads);
    int32_t *tails = malloc(((size_t)p->n_out + 1) * sizeof *tails);
    if (!seen || !stack || !heads || !tails) {
        free(seen), free(stack), free(heads), free(tails);
        return 0;
    }
    l->needed = schedule(p, l->order, seen, stack);
    int64_t last = p->checked || p->places ? n : l->needed;
    for (int64_t op = 0; op < n; op++) heads[op] = -1;
    for (int64_t j = p->n_out; j-- > 0;)
        if (p->out_idx[j] >= 0) {
            tails[j] = heads[p->out_idx[j]];
            heads[p->out_idx[j]] = (int32_t)j;
            l->uses[p->out_idx[j]] += 2;
        }
    for (int64_t q = 0; q < last; q++) {
        int64_t count = n_operands(p, l->order[q]);
        for (int64_t j = 0; j < count; j++) {
            int64_t from = operand(p, l->order[q], j);
            if (from < 0) continue;
            l->uses[from]++;
            l->reader[from] = l->order[q];
        }
    }
    for (int64_t q = 0; q < last && !l->failed; q++) {
        l->now = l->order[q];
        lower_op(l, l->now);
        if (p->places) watch_op(l, l->now);
        for (int32_t j = heads[l->now]; j >= 0 && !l->failed; j = tails[j]) lower_output(l, j);
    }
    for (int64_t j = 0; j < p->n_out && !l->failed; j++)
        if (p->out_idx[j] < 0) lower_output(l, j);
    free(seen), free(stack), free(heads), free(tails);
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

/* The end of lowering: dead code is removed, and bits are assigned to planes. */

#define LAST 0x80000000u /* on an operand: nothing reads this bit after this step */
#define DROPPED 0xFFu

static void mark(uint8_t *needed, uint32_t *operand) {
    if (*operand < FIRST_FREE || needed[*operand]) return;
    needed[*operand] = 1;
    *operand |= LAST;
}

/* Backwards over the runs: shorten and drop dead ones, find the last read of every bit. */
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
        /* Steps of a gate may feed later ones of the same run; unused ones are removed. */
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
    uint32_t *spare; /* freed planes */
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

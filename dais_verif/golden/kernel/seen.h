/* The probes of a watched run, included once for each instruction set (isa.h). Threads share the bytes, which are only
 * ever set. Probes seen in full are not evaluated again, so a long run costs little more than a short one. */

#define SAW(place) __atomic_load_n(place, __ATOMIC_RELAXED)
#define SEE(place, ...)                                                                                                \
    do {                                                                                                               \
        if (SAW(place)) break;                                                                                         \
        VEC found = {0};                                                                                               \
        EACH found |= (__VA_ARGS__) & valid[w];                                                                        \
        if (FN(some)(found)) __atomic_store_n(place, 1, __ATOMIC_RELAXED);                                             \
    } while (0)

static int FN(some)(VEC v) {
    int64_t words[WORDS], any = 0;
    memcpy(words, &v, sizeof v);
    for (int j = 0; j < WORDS; j++) any |= words[j];
    return any != 0;
}

/* Bits of a value, the last its sign if it has one. */
static void FN(see_value)(const watched *t, uint8_t *seen, uint8_t *closed, const uint32_t *pc, uint32_t n, char *planes) {
    const VEC *valid = AT(VALID * PLANE_STEP), *top = AT(pc[n - 1]);
    int open = 0, whole = !(SAW(seen + 2 * n) && SAW(seen + 2 * n + 1));
    VEC any[LANES];
    EACH any[w] = (VEC){0};
    for (uint32_t j = 0; j < n; j++) {
        const VEC *p = AT(pc[j]);
        if (whole) EACH any[w] |= p[w];
        SEE(seen + j, ~p[w]);
        SEE(seen + n + j, p[w]);
        open |= !(SAW(seen + j) && SAW(seen + n + j));
    }
    if (whole) {
        SEE(seen + 2 * n, ~any[w]);
        if (t->is_signed) SEE(seen + 2 * n + 1, any[w] & ~top[w]);
        else SEE(seen + 2 * n + 1, any[w]);
        open |= !(SAW(seen + 2 * n) && SAW(seen + 2 * n + 1));
    }
    *closed = !open;
}

/* Rows in which any of the pairs after the first differ: where the condition holds, where not; and all others. */
static void FN(see_difference)(uint8_t *seen, uint8_t *closed, const uint32_t *pc, const uint32_t *stop, char *planes) {
    const VEC *valid = AT(VALID * PLANE_STEP), *condition = AT(pc[0]);
    VEC differs[LANES];
    EACH differs[w] = (VEC){0};
    for (pc += 2; pc < stop; pc += 2) {
        const VEC *a = AT(pc[0]), *b = AT(pc[1]);
        EACH differs[w] |= a[w] ^ b[w];
    }
    SEE(seen, differs[w] & condition[w]);
    SEE(seen + 1, differs[w] & ~condition[w]);
    SEE(seen + 2, ~differs[w]);
    *closed = SAW(seen) && SAW(seen + 1) && SAW(seen + 2);
}

/* Entries of a table. */
static void FN(see_entries)(const block *io, const lookup *t, uint8_t *seen, uint8_t *closed, const uint32_t *pc, uint32_t n, char *planes) {
    int32_t index[PLANE_ROWS];
    FN(find)(t, pc, n, planes, index);
    for (int64_t row = 0; row < io->count; row++)
        if ((uint32_t)index[row] < t->size) __atomic_store_n(seen + index[row], 1, __ATOMIC_RELAXED);
    int all = 1;
    for (uint32_t j = 0; j < t->size && all; j++) all = SAW(seen + j);
    *closed = (uint8_t)all;
}

/* The probes of one place in the code. */
static void FN(see)(const block *io, uint32_t number, const run_head *head, const uint32_t *pc, char *planes) {
    const watched *t = &io->watched[number];
    uint8_t *seen = io->seen + t->place, *closed = io->closed + number;
    if (head->kind == K_SEEN) FN(see_value)(t, seen, closed, pc, head->words, planes);
    else if (head->kind == K_DIFFER) FN(see_difference)(seen, closed, pc, pc + head->words, planes);
    else FN(see_entries)(io, &io->lookups[t->lookup], seen, closed, pc, head->words, planes);
}

/* The rows that exist in this block. */
static void FN(mark_valid)(const block *io, char *planes) {
    char *valid = (char *)AT(VALID * PLANE_STEP);
    memset(valid, 0, PLANE_BYTES);
    memset(valid, 0xFF, (size_t)(io->count / 8));
    if (io->count % 8) valid[io->count / 8] = (char)((1 << io->count % 8) - 1);
}

#undef SAW
#undef SEE

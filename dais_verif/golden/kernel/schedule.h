/* The order in which ops are lowered. */

/* Depth first from the outputs, operands in order, so that a value is used soon after it is computed; then ops that no
 * output needs. Without locality: program order. seen: all 0. Returns the number of ops that outputs need. */
static int64_t schedule(const program *p, int32_t *order, int32_t *seen, int32_t *stack) {
    int64_t done = 0, needed = 0;
    for (int64_t root = 0; root < p->n_out + p->n; root++) {
        int64_t op = root < p->n_out ? p->out_idx[root] : root - p->n_out;
        int64_t depth = 0, next;
        if (root == p->n_out) needed = done;
        if (op < 0 || seen[op]) continue;
        seen[op] = 1;
        stack[depth++] = (int32_t)op;
        while (depth) {
            /* seen: 1 + the number of operands visited; 0 not reached; -1 placed */
            int32_t top = stack[depth - 1];
            int64_t count = n_operands(p, top);
            while (seen[top] <= count && ((next = operand(p, top, seen[top] - 1)) < 0 || seen[next])) seen[top]++;
            if (seen[top] <= count) {
                seen[top]++;
                seen[next] = 1;
                stack[depth++] = (int32_t)next;
            } else {
                seen[top] = -1;
                order[done++] = top;
                depth--;
            }
        }
    }
    if (p->n == 0 || p->n_out + p->n == 0) needed = done;
    if (!p->locality) { /* the same ops, in program order: needed ones first */
        int32_t *is_needed = seen;
        memset(is_needed, 0, (size_t)p->n * sizeof *is_needed);
        for (int64_t j = 0; j < needed; j++) is_needed[order[j]] = 1;
        int64_t a = 0, b = needed;
        for (int64_t op = 0; op < p->n; op++) order[is_needed[op] ? a++ : b++] = (int32_t)op;
    }
    return needed;
}

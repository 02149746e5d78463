/* Rows of integers as columns, regardless of their meaning. Included once for each instruction set (isa.h).
 *
 * A tile is 16 bytes of a row wide and as many rows high as those are integers. */

typedef uint16_t FN(shorts16) __attribute__((vector_size(16)));
typedef uint32_t FN(words16) __attribute__((vector_size(16)));

/* The lower, and the upper, integers of a and b in turn. */
INLINE void FN(weave)(bytes16 a, bytes16 b, bytes16 *low, bytes16 *high, int size) {
    switch (size) {
    case 1:
        *low = SHUFFLE(bytes16, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        *high = SHUFFLE(bytes16, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        break;
    case 2:
        *low = (bytes16)SHUFFLE(FN(shorts16), (FN(shorts16))a, (FN(shorts16))b, 0, 8, 1, 9, 2, 10, 3, 11);
        *high = (bytes16)SHUFFLE(FN(shorts16), (FN(shorts16))a, (FN(shorts16))b, 4, 12, 5, 13, 6, 14, 7, 15);
        break;
    case 4:
        *low = (bytes16)SHUFFLE(FN(words16), (FN(words16))a, (FN(words16))b, 0, 4, 1, 5);
        *high = (bytes16)SHUFFLE(FN(words16), (FN(words16))a, (FN(words16))b, 2, 6, 3, 7);
        break;
    default:
        *low = (bytes16)SHUFFLE(octets, (octets)a, (octets)b, 0, 2);
        *high = (bytes16)SHUFFLE(octets, (octets)a, (octets)b, 1, 3);
    }
}

/* The existing columns of a tile, from rows that lie so many bytes apart. */
INLINE void FN(flip)(const char *x, int64_t apart, char *to, int64_t columns, int size) {
    bytes16 v[16], u[16];
    const int high = 16 / size;
    for (int q = 0; q < high; q++) memcpy(&v[q], x + q * apart, 16);
    for (int n = high; n > 1; n /= 2) {
        for (int q = 0; q < high / 2; q++) FN(weave)(v[q], v[q + high / 2], &u[2 * q], &u[2 * q + 1], size);
        for (int q = 0; q < high; q++) v[q] = u[q];
    }
    for (int q = 0; q < (int)min64(high, columns); q++) memcpy(to + q * STRIDE(size), &v[q], 16);
}

INLINE void FN(flip_size)(block *io, int size) {
    const int64_t high = 16 / size, apart = io->n_in * size;
    const char *end = io->x + io->x_rows * apart;
    for (int64_t row = 0; row < io->count; row += high) {
        const char *x = input_at(io, io->first + row, 0);
        /* The last tiles may reach beyond the end. */
        if (io->count - row < high || end - x < (high - 1) * apart + max64(apart, 16))
            x = memcpy(io->strip, x, (size_t)(min64(high, io->count - row) * apart));
        for (int64_t j = 0, more = 1; more; j = min64(j + high, max64(io->n_in - high, 0))) {
            more = j + high < io->n_in; /* the last two may overlap */
            FN(flip)(x + j * size, apart, io->in_ints + j * STRIDE(size) + row * size, io->n_in - j, size);
        }
    }
}

static void FN(flip_rows)(block *io) {
    switch (io->x_size) {
    case 1: FN(flip_size)(io, 1); break;
    case 2: FN(flip_size)(io, 2); break;
    case 4: FN(flip_size)(io, 4); break;
    default: FN(flip_size)(io, 8);
    }
}

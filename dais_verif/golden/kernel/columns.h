/* Columns of integers to planes and back. Included once for each instruction set (isa.h).
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

/* One array of bytes from n planes, no more than eight; the bits above them are those of the last if it is a sign. */
static void FN(collect)(uint8_t *bytes, const uint32_t *from, uint32_t n, int is_signed, char *planes) {
#if defined(__AVX512F__)
    const char *plane[8];
    __m512i weight[8];
    for (uint32_t q = 0; q < n; q++) {
        plane[q] = (const char *)AT(from[q]);
        weight[q] = _mm512_set1_epi8((char)(q == n - 1 && is_signed ? -(1 << q) : 1 << q));
    }
    for (int j = 0; j < PLANE_BYTES; j += 8) {
        __m512i sum = _mm512_setzero_si512();
        for (uint32_t q = 0; q < n; q++) {
            uint64_t m;
            memcpy(&m, plane[q] + j, 8);
            sum = _mm512_mask_add_epi8(sum, m, sum, weight[q]);
        }
        _mm512_storeu_si512(bytes + 8 * j, sum);
    }
#else
    const char *plane[8];
    for (uint32_t q = 0; q < 8; q++)
        plane[q] = (const char *)AT(q < n ? from[q] : is_signed ? from[n - 1] : ZERO * PLANE_STEP);
    for (int j = 0; j < PLANE_BYTES; j += 16) {
        bytes16 u[8], v[8];
        for (int q = 0; q < 8; q++) memcpy(&v[q], plane[q] + j, 16);
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
    static const uint32_t zero = ZERO * PLANE_STEP;
    if (n == 0) from = &zero, n = 1;
    for (int g = 0; g < size; g++) {
        uint32_t below = (uint32_t)min64(8 * g, n - 1), some = (uint32_t)min64(n - below, 8); /* beyond it: the sign */
        FN(collect)(bytes[g], from + below, some, below + some == n, planes);
    }
}

#define SPLIT(type)                                                                                                    \
    for (int g = 0; g < groups; g++) {                                                                                 \
        int by = (int)shift + 8 * g, top = (int)sizeof(type) * 8 - 1;                                                  \
        if (by > top && (type)-1 > 0) memset(bytes[g], 0, PLANE_ROWS);                                                 \
        else                                                                                                           \
            for (int row = 0; row < PLANE_ROWS; row++)                                                                 \
                bytes[g][row] = (uint8_t)(((const type *)x)[row] >> (by < top ? by : top));                            \
    }                                                                                                                  \
    break

/* Bits 0 .. n - 1 of one input, shifted right by its shift, to planes. */
static void FN(load)(block *io, uint32_t input, uint32_t n, const uint32_t *to, char *planes) {
    int size = io->x_size;
    int64_t shift = io->shift ? io->shift[input] : 0;
    uint8_t bytes[8][PLANE_ROWS];
    int64_t padded[PLANE_ROWS];
    const char *x;
    if (io->in_ints) {
        size = io->in_size;
        x = io->in_ints + (size_t)input * (size_t)STRIDE(size);
    } else {
        x = input_at(io, io->first, input);
        /* The next block's rows lie far from those of the next input, so hardware prefetchers do not fetch them. */
        for (int j = 0; j < PLANE_ROWS * size; j += 64) __builtin_prefetch(x + PLANE_ROWS * size + j);
        if (io->count < PLANE_ROWS) x = memcpy(padded, x, (size_t)(io->count * size));
    }
    for (; shift < 0 && n; n--, shift++) memset(AT(*to++), 0, PLANE_BYTES); /* bits below the integers are 0 */
    int groups = (int)(n + 7) / 8;
    if (size == 1 && groups == 1 && shift == 0) {
        FN(spread)((const uint8_t *)x, to, n, planes);
        return;
    }
    switch (size * (io->x_kind == UNSIGNED ? -1 : 1)) {
    case 1: SPLIT(int8_t);
    case 2: SPLIT(int16_t);
    case 4: SPLIT(int32_t);
    case 8: SPLIT(int64_t);
    case -1: SPLIT(uint8_t);
    case -2: SPLIT(uint16_t);
    case -4: SPLIT(uint32_t);
    default: SPLIT(uint64_t);
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
        y = io->out_ints + (size_t)output * (size_t)STRIDE(size);
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
    if (place && place != y) FN(deliver)(io, place, y, (size_t)(io->count * size));
}

/* The reals of a block as integers, one array for each input; integers, one array for each output, as float64 rows.
 *
 * Included once for each instruction set (isa.h). A tile is as many columns as a vector has lanes, and as many rows as
 * a vector has integers. Each lane collects the integers of one column from some rows, then lanes and vectors are
 * exchanged: no element is moved alone. Where there are fewer columns than lanes, rows lie side by side in a vector. */

/* Added to a double within +-2**51, it leaves the floor in the low bits of the sum; the upper 12 are its own. */
#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000ll

typedef double FN(reals) __attribute__((vector_size(sizeof(VEC)), may_alias));
typedef double FN(row) __attribute__((vector_size(sizeof(VEC)), aligned(8), may_alias));
typedef uint64_t FN(unsigned) __attribute__((vector_size(sizeof(VEC)), may_alias));
typedef int8_t FN(chars) __attribute__((vector_size(WORDS)));
typedef int16_t FN(shorts) __attribute__((vector_size(WORDS * 2)));
typedef int32_t FN(words) __attribute__((vector_size(WORDS * 4)));
#define REALS FN(reals)

/* The shape of a tile of columns first .. first + columns - 1. */
typedef struct {
    int columns, abreast;  /* rows side by side in a vector */
    int64_t n, apart;      /* columns of the whole array; how many rows lie between those that are side by side */
} FN(tile);

static FN(tile) FN(tile_of)(int64_t n, int size) {
    int columns = (int)min64(n, WORDS);
    FN(tile) t = {columns, WORDS / columns, n, (int64_t)sizeof(VEC) / size};
    return t;
}

/* The factors of the lanes. */
static REALS FN(scales)(const FN(tile) *t, const double *scale) {
    REALS v = {0};
    for (int lane = 0; lane < t->columns * t->abreast; lane++) v[lane] = scale[lane % t->columns];
    return v;
}

INLINE REALS FN(get)(const FN(tile) *t, const double *x, int whole) {
    if (whole) return (REALS)*(const FN(row) *)x;
    REALS v = {0};
    for (int j = 0; j < t->abreast; j++) {
        const double *from = x + j * t->apart * t->n;
#if defined(__AVX512F__)
        __mmask8 lanes = (__mmask8)(((1 << t->columns) - 1) << j * t->columns);
        v = (REALS)_mm512_mask_loadu_pd((__m512d)v, lanes, from - j * t->columns);
#else
        for (int c = 0; c < t->columns; c++) v[j * t->columns + c] = from[c];
#endif
    }
    return v;
}

INLINE void FN(put)(const FN(tile) *t, double *y, REALS v, int whole) {
    if (whole) {
        *(FN(row) *)y = (FN(row))v;
        return;
    }
    for (int j = 0; j < t->abreast; j++) {
        double *to = y + j * t->apart * t->n;
#if defined(__AVX512F__)
        __mmask8 lanes = (__mmask8)(((1 << t->columns) - 1) << j * t->columns);
        _mm512_mask_storeu_pd(to - j * t->columns, lanes, (__m512d)v);
#else
        for (int c = 0; c < t->columns; c++) to[c] = v[j * t->columns + c];
#endif
    }
}

/* Lane j of vector q becomes lane q of vector j. */
INLINE void FN(exchange)(VEC *v) {
    VEC u[WORDS];
    for (int n = WORDS; n > 1; n /= 2) {
        for (int q = 0; q < WORDS / 2; q++) {
            u[2 * q] = INTERLEAVED_LOW(v[q], v[q + WORDS / 2]);
            u[2 * q + 1] = INTERLEAVED_HIGH(v[q], v[q + WORDS / 2]);
        }
        for (int q = 0; q < WORDS; q++) v[q] = u[q];
    }
}

/* floor(v * scale) in the low bits, and MAGIC_BITS's upper 12 bits unless v is far away. */
INLINE VEC FN(floored)(REALS v, REALS scale, REALS unscale) {
#if defined(__AVX512F__)
    (void)unscale;
    const int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
    return (VEC)_mm512_fmadd_round_pd((__m512d)v, (__m512d)scale, _mm512_set1_pd(MAGIC), down);
#else
    REALS near = v * scale + MAGIC; /* less 1 if rounded up; the comparison is exact, as scales are powers of two */
    return (VEC)((FN(unsigned))near + (FN(unsigned))((near - MAGIC) * unscale > v));
#endif
}

/* `ahead` is prefetched, as many doubles as are read. */
INLINE void FN(tile_in)(const FN(tile) *t, const double *x, const double *ahead, REALS scale, VEC *far, char *to,
                        int64_t stride, int size, int whole) {
    const REALS unscale = 1 / scale;
    const VEC mask = (VEC){0} + ((1ll << 8 * size % 64) - 1);
    VEC v[WORDS], beyond = *far;
    for (int q = 0; q < WORDS; q++)
        for (int s = 8 / size; s-- > 0;) {
            const double *from = x + (q * (8 / size) + s) * t->n;
            VEC one = FN(floored)(FN(get)(t, from, whole), scale, unscale);
            __builtin_prefetch(ahead, 0, 2);
            ahead += t->columns * t->abreast; /* in order, which suits hardware prefetchers */
            beyond |= one ^ MAGIC_BITS;
            if (size == 8) v[q] = (VEC)((FN(unsigned))one - MAGIC_BITS);
            else if (s == 8 / size - 1) v[q] = one;
            else v[q] = SELECT(mask, one, (VEC)((FN(unsigned))v[q] << 8 * size % 64));
        }
    *far = beyond;
    FN(exchange)(v);
    for (int j = 0; j < (whole ? WORDS : t->columns * t->abreast); j++)
        memcpy(to + j % t->columns * stride + j / t->columns * (int64_t)sizeof(VEC), &v[j], sizeof(VEC));
}

INLINE void FN(tile_out)(const FN(tile) *t, double *y, REALS scale, const char *from, int64_t stride, int size,
                         int whole) {
    VEC v[WORDS];
    const int64_t half = 1ll << (8 * size - 1) % 63;
    const REALS offset = scale * (0x1p52 + (double)half);
    for (int j = 0; j < WORDS; j++) {
        int lane = whole ? j : min64(j, t->columns * t->abreast - 1);
        memcpy(&v[j], from + lane % t->columns * stride + lane / t->columns * (int64_t)sizeof(VEC), sizeof(VEC));
    }
    FN(exchange)(v);
    for (int q = 0; q < WORDS; q++) {
        VEC signs = v[q] ^ (size == 1   ? -0x7f7f7f7f7f7f7f80ll
                            : size == 2 ? -0x7fff7fff7fff8000ll
                                        : -0x7fffffff80000000ll);
        for (int s = 0; s < 8 / size; s++) {
            REALS one;
            if (size == 8) {
                one = __builtin_convertvector(v[q], REALS) * scale;
            } else { /* 2**52 and the integer, half a range too large */
                VEC low = (VEC)((FN(unsigned))signs >> 8 * size * s % 64) & (2 * half - 1);
                one = (REALS)(low | 0x4330000000000000ll) * scale - offset;
            }
            FN(put)(t, y + (q * (8 / size) + s) * t->n, one, whole);
        }
    }
}

static int FN(any)(VEC v) {
    int64_t all = 0;
    for (int j = 0; j < WORDS; j++) all |= v[j];
    return all >> 52 != 0;
}

/* n reals of any size as doubles. */
static void FN(widened)(double *to, const char *from, int64_t n, int size) {
    const uint16_t *halves = (const void *)from;
    int64_t j = 0;
    switch (size) {
    case 2:
#if defined(__AVX512F__)
        for (; j + 8 <= n; j += 8)
            _mm512_storeu_pd(to + j, _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(halves + j)))));
#elif defined(__F16C__)
        for (; j + 4 <= n; j += 4)
            _mm256_storeu_pd(to + j, _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(halves + j)))));
#endif
        for (; j < n; j++) to[j] = half(halves[j]);
        break;
    case 4:
        for (; j < n; j++) to[j] = ((const float *)from)[j];
        break;
    default: memcpy(to, from, (size_t)n * 8);
    }
}

INLINE void FN(rows_in)(block *io, int size, int whole) {
    const FN(tile) t = FN(tile_of)(io->n_in, size);
    const int64_t high = t.abreast * t.apart, stride = STRIDE(size);
    for (int64_t row = 0; row < io->count; row += high) {
        const char *given = input_at(io, io->first + row, 0);
        const double *x = (const double *)given, *ahead = x + 2 * high * t.n; /* into the second cache */
        int64_t rows = min64(high, io->count - row), j = 0;
        if (rows < high || io->x_size < 8) {
            FN(widened)(io->strip, given, rows * t.n, io->x_size);
            memset(io->strip + rows * t.n, 0, (size_t)((high - rows) * t.n) * 8);
            x = io->strip;
        }
        VEC far = {0};
        for (int more = 1; more; j = min64(j + t.columns, t.n - t.columns)) { /* the last two tiles may overlap */
            more = j + t.columns < t.n;
            REALS scale = whole ? (REALS)*(const FN(row) *)(io->in_scale + j) : FN(scales)(&t, io->in_scale);
            char *to = io->in_ints + j * stride + row * size;
            FN(tile_in)(&t, x + j, ahead + j * high, scale, &far, to, stride, size, whole);
        }
        if (FN(any)(far)) far_rows(io, row, rows, 0, t.n);
    }
}

/* The lower size bytes of each. */
INLINE void FN(narrow)(char *to, VEC v, int size) {
    FN(chars) chars;
    FN(shorts) shorts;
    FN(words) words;
    switch (size) {
    case 1: chars = __builtin_convertvector(v, FN(chars)), memcpy(to, &chars, sizeof chars); break;
    case 2: shorts = __builtin_convertvector(v, FN(shorts)), memcpy(to, &shorts, sizeof shorts); break;
    case 4: words = __builtin_convertvector(v, FN(words)), memcpy(to, &words, sizeof words); break;
    default: memcpy(to, &v, sizeof v);
    }
}

/* The same of reals by columns. */
INLINE void FN(columns_in)(block *io, int size) {
    const VEC all = (VEC){0} + MAGIC_BITS;
    double column[PLANE_ROWS];
    for (int64_t j = 0; j < io->n_in; j++) {
        const REALS scale = (REALS){0} + io->in_scale[j], unscale = 1 / scale;
        const char *given = input_at(io, io->first, j);
        const double *x = (const double *)given;
        char *to = io->in_ints + j * STRIDE(size);
        if (io->x_size < 8 || io->count < PLANE_ROWS) {
            FN(widened)(column, given, io->count, io->x_size);
            memset(column + io->count, 0, (size_t)(PLANE_ROWS - io->count) * 8);
            x = column;
        }
        VEC far = {0};
        for (int row = 0; row < PLANE_ROWS; row += WORDS) {
            VEC one = FN(floored)((REALS)*(const FN(row) *)(x + row), scale, unscale);
            far |= one ^ all;
            one = (VEC)((FN(unsigned))one - (FN(unsigned))all);
            FN(narrow)(to + row * size, one, size);
            __builtin_prefetch(given + PLANE_ROWS * io->x_size + row * io->x_size); /* as for planar integers */
        }
        if (FN(any)(far)) far_rows(io, 0, io->count, j, j + 1);
    }
}

INLINE void FN(rows_out)(block *io, int size, int whole) {
    const FN(tile) t = FN(tile_of)(io->n_out, size);
    const int64_t high = t.abreast * t.apart, stride = STRIDE(size);
    for (int64_t row = 0; row < io->count; row += high) {
        double *place = (double *)io->y + (io->first + row) * t.n, *y = place;
        int64_t rows = min64(high, io->count - row), j = 0;
        if (rows < high || io->streams) y = io->strip;
        for (int more = 1; more; j = min64(j + t.columns, t.n - t.columns)) {
            more = j + t.columns < t.n;
            REALS scale = whole ? (REALS)*(const FN(row) *)(io->out_scale + j) : FN(scales)(&t, io->out_scale);
            FN(tile_out)(&t, y + j, scale, io->out_ints + j * stride + row * size, stride, size, whole);
        }
        if (y != place) FN(deliver)(io, (char *)place, (const char *)y, (size_t)(rows * t.n) * 8);
    }
}

#define FOR_EACH_SIZE(what, size, n)                                                                                   \
    if (!(n)) return;                                                                                                  \
    switch ((size) * 2 + ((n) >= WORDS)) {                                                                             \
    case 2: what(io, 1, 0); break;                                                                                     \
    case 3: what(io, 1, 1); break;                                                                                     \
    case 4: what(io, 2, 0); break;                                                                                     \
    case 5: what(io, 2, 1); break;                                                                                     \
    case 8: what(io, 4, 0); break;                                                                                     \
    case 9: what(io, 4, 1); break;                                                                                     \
    case 16: what(io, 8, 0); break;                                                                                    \
    default: what(io, 8, 1);                                                                                           \
    }

static void FN(from_reals)(block *io) {
    if (io->by_rows) {
        FOR_EACH_SIZE(FN(rows_in), io->in_size, io->n_in)
    } else {
        switch (io->in_size) {
        case 1: FN(columns_in)(io, 1); break;
        case 2: FN(columns_in)(io, 2); break;
        case 4: FN(columns_in)(io, 4); break;
        default: FN(columns_in)(io, 8);
        }
    }
}

static void FN(to_doubles)(block *io) { FOR_EACH_SIZE(FN(rows_out), io->out_size, io->n_out) }

/* The source of the planes, unless it is the inputs themselves. */
static void FN(to_columns)(block *io) {
    if (io->x_kind == REAL) FN(from_reals)(io);
    else FN(flip_rows)(io);
}

#undef MAGIC
#undef MAGIC_BITS
#undef REALS
#undef FOR_EACH_SIZE

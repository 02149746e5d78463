/* The rows of one pass: their source and destination, and code shared by the passes of all instruction sets. */

/* Bytes between columns of integers: with a power of two, all of them would compete for the same cache lines. */
#define STRIDE(size) (PLANE_ROWS * (int64_t)(size) + 64)

/* Bytes of outputs beyond which they are written past the caches: the second one would not keep them, and a write into
 * the third reads the line from memory first. */
#define STREAMED ((int64_t)2 << 20)

enum { DOUBLES = 0 }; /* size of outputs that are float64 rows, (rows, n); integers are (n, rows) */

/* Inputs are reals of 2, 4 or 8 bytes or integers of 1, 2, 4 or 8, and by rows, (rows, n), or by columns, (n, rows). */
enum { REAL = 'f', SIGNED = 'i', UNSIGNED = 'u' };

/* The source and destination of the current block. */
typedef struct {
    const char *x;
    char *y;
    int64_t x_rows, y_rows; /* rows of the whole arrays */
    int x_kind, x_size;     /* of the inputs; bytes of one */
    int by_rows;            /* inputs are stored by rows */
    int y_size;             /* bytes of an integer, or DOUBLES */
    int64_t first, count;   /* the rows of this block */
    int64_t n_in, n_out;
    const int64_t *shift;   /* bit 0 of the input's planes is this bit of its integers; NULL: all 0 */
    const double *in_scale, *out_scale; /* powers of two */
    const lookup *lookups;
    char *in_ints, *out_ints;    /* rows as columns of integers, STRIDE an input or output; NULL if not needed */
    double *strip;               /* some rows */
    int streams;                 /* outputs exceed the cache: they are written directly to memory */
    int in_size, out_size;       /* bytes of those integers */
    uint8_t *seen, *closed;      /* of a watched program: probes seen; probes seen in full. NULL if not requested */
    const watched *watched;
    int64_t *spent;              /* nanoseconds of each op, then of each output; NULL if not requested */
    int64_t clock;               /* the time that reading the clock takes */
    int64_t bad_row;             /* of a NaN or an infinity, or -1 */
} block;

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t octets __attribute__((vector_size(16)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Two 8 by 8 bit matrices, one row a byte, transposed. */
static inline bytes16 transposed(bytes16 matrices) {
    octets t = (octets)matrices, u;
    u = (t ^ (t >> 7)) & 0x00AA00AA00AA00AAull, t ^= u ^ (u << 7);
    u = (t ^ (t >> 14)) & 0x0000CCCC0000CCCCull, t ^= u ^ (u << 14);
    u = (t ^ (t >> 28)) & 0x00000000F0F0F0F0ull, t ^= u ^ (u << 28);
    return (bytes16)t;
}

#ifdef __clang__
#define SHUFFLE(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(mask, a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif

/* Three times parted: byte 8 * j + q of 128 bytes goes to byte j of vector q. Three times woven: back. */
static inline void parted(bytes16 *to, const bytes16 *from) {
    for (int q = 0; q < 4; q++) {
        bytes16 a = from[2 * q], b = from[2 * q + 1];
        to[q] = SHUFFLE(bytes16, a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        to[q + 4] = SHUFFLE(bytes16, a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    }
}

static inline void woven(bytes16 *to, const bytes16 *from) {
    for (int q = 0; q < 4; q++) {
        bytes16 a = from[q], b = from[q + 4];
        to[2 * q] = SHUFFLE(bytes16, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        to[2 * q + 1] = SHUFFLE(bytes16, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
}

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static int64_t clock_cost(void) {
    int64_t least = INT64_MAX;
    for (int j = 0; j < 100; j++) {
        int64_t before = nanoseconds(), after = nanoseconds();
        least = min64(least, after - before);
    }
    return least;
}

/* The number of bytes of integers of so many bits. */
static int bytes_for(uint32_t bits) { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 24 ? 3 : bits <= 32 ? 4 : 8; }

/* floor(x * scale) modulo 2**64, for any x; scale is a power of two. */
static int64_t far_away(block *io, double x, double scale, int64_t row) {
    int exponent, power;
    if (!isfinite(x)) {
        if (io->bad_row < 0 || row < io->bad_row) io->bad_row = row;
        return 0;
    }
    int64_t mantissa = (int64_t)ldexp(frexp(x, &exponent), 53); /* exact */
    frexp(scale, &power);
    exponent += power - 1 - 53;
    if (exponent >= 0) return exponent > 63 ? 0 : (int64_t)((uint64_t)mantissa << exponent);
    return mantissa >> (exponent < -63 ? 63 : -exponent);
}

/* A float16, whose bits are given. A multiplication corrects the exponent, also of subnormal numbers. */
static inline double half(uint16_t bits) {
    uint32_t high = (uint32_t)(bits & 0x7FFF) << 13 | ((bits & 0x7C00) == 0x7C00 ? 0x7F800000 : 0);
    float magnitude;
    memcpy(&magnitude, &high, sizeof magnitude);
    magnitude *= (bits & 0x7C00) == 0x7C00 ? 1 : 0x1p112f;
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double real_at(const char *x, int size) {
    double r;
    float s;
    uint16_t h;
    switch (size) {
    case 2: return memcpy(&h, x, sizeof h), half(h);
    case 4: return memcpy(&s, x, sizeof s), s;
    default: return memcpy(&r, x, sizeof r), r;
    }
}

/* The address of an input of a row of the whole array. */
static const char *input_at(const block *io, int64_t row, int64_t j) {
    return io->x + (io->by_rows ? row * io->n_in + j : io->x_rows * j + row) * io->x_size;
}

/* Corrects values beyond the fast conversion of reals, in inputs first .. last - 1 of some rows of the block. */
static void far_rows(block *io, int64_t row, int64_t rows, int64_t first, int64_t last) {
    for (; rows--; row++)
        for (int64_t j = first; j < last; j++) {
            double v = real_at(input_at(io, io->first + row, j), io->x_size), s = v * io->in_scale[j];
            if (s >= -0x1p51 && s < 0x1p51) continue;
            int64_t y = far_away(io, v, io->in_scale[j], io->first + row);
            memcpy(io->in_ints + j * STRIDE(io->in_size) + row * io->in_size, &y, (size_t)io->in_size);
        }
}

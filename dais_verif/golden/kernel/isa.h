/* Code compiled once for every instruction set (ISA) of the machine: vector types and everything that uses them. */

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
#define INTERLEAVED_LOW(a, b) SHUFFLE(FN(vec), a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define INTERLEAVED_HIGH(a, b) SHUFFLE(FN(vec), a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#if defined(__AVX2__)
typedef int64_t FN(vec) __attribute__((vector_size(32), may_alias));
#define INTERLEAVED_LOW(a, b) SHUFFLE(FN(vec), a, b, 0, 4, 1, 5)
#define INTERLEAVED_HIGH(a, b) SHUFFLE(FN(vec), a, b, 2, 6, 3, 7)
#else
typedef int64_t FN(vec) __attribute__((vector_size(16), may_alias));
#define INTERLEAVED_LOW(a, b) SHUFFLE(FN(vec), a, b, 0, 2)
#define INTERLEAVED_HIGH(a, b) SHUFFLE(FN(vec), a, b, 1, 3)
#endif
#define VEC FN(vec)
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define MAJ3(a, b, c) (((a) & (b)) | ((c) & ((a) ^ (b))))
#define XNOR3(a, b, c) (~((a) ^ (b) ^ (c)))
#define MAJ3N(a, b, c) (((a) & ~(b)) | ((c) & ~((a) ^ (b))))
#define SELECT(s, a, b) (((s) & (a)) | (~(s) & (b)))
#endif

#define LANES ((int)(PLANE_BYTES / sizeof(VEC)))
#define WORDS ((int)(sizeof(VEC) / 8)) /* lanes of 64 bits */
#define EACH for (int w = 0; w < LANES; w++)
#define AT(word) ((VEC *)(planes + (size_t)(word) * 8))

#define FULL(s, a, b, c) (s = XOR3(a, b, c), c = MAJ3(a, b, c))
#define FULL_MINUS(s, a, b, c) (s = XNOR3(a, b, c), c = MAJ3N(a, b, c))

/* Copy bytes to their destination; bypass the cache if they are to be streamed. */
static void FN(deliver)(const block *io, char *to, const char *from, size_t n) {
#ifdef __SSE2__
    if (io->streams && (uintptr_t)to % 16 == 0) {
        for (; n >= 16 && (uintptr_t)to % sizeof(VEC); n -= 16, to += 16, from += 16)
            _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
        for (; n >= sizeof(VEC); n -= sizeof(VEC), to += sizeof(VEC), from += sizeof(VEC)) {
#if defined(__AVX512F__)
            _mm512_stream_si512((__m512i *)to, _mm512_loadu_si512(from));
#elif defined(__AVX2__)
            _mm256_stream_si256((__m256i *)to, _mm256_loadu_si256((const __m256i *)from));
#else
            _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
#endif
        }
    }
#else
    (void)io;
#endif
    memcpy(to, from, n);
}

#include "flip.h"

#include "doubles.h"

#include "columns.h"

#include "planes.h"

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
#undef FN
#undef WORDS
#undef INTERLEAVED_LOW
#undef INTERLEAVED_HIGH

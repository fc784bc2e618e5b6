// What the AVX2 and AVX-512 kernels share.
#include <immintrin.h>

// transpose8 writes eight rows of eight floats, stride from apart, as eight
// columns, stride to apart.
INLINE void transpose8(float *dst, long to, const float *src, long from) {
    __m256 r[8], t[8];
    for (int i = 0; i < 4; i++) { // row i beside row i+4: its left half, its right half
        __m256 left = _mm256_castps128_ps256(_mm_loadu_ps(src + i * from));
        __m256 right = _mm256_castps128_ps256(_mm_loadu_ps(src + i * from + 4));
        r[i] = _mm256_insertf128_ps(left, _mm_loadu_ps(src + (i + 4) * from), 1);
        r[i + 4] = _mm256_insertf128_ps(right, _mm_loadu_ps(src + (i + 4) * from + 4), 1);
    }
    for (int h = 0; h < 8; h += 4) { // 4×4 in each 128-bit lane
        t[h] = _mm256_unpacklo_ps(r[h], r[h + 1]);
        t[h + 1] = _mm256_unpackhi_ps(r[h], r[h + 1]);
        t[h + 2] = _mm256_unpacklo_ps(r[h + 2], r[h + 3]);
        t[h + 3] = _mm256_unpackhi_ps(r[h + 2], r[h + 3]);
        _mm256_storeu_ps(dst + h * to, _mm256_shuffle_ps(t[h], t[h + 2], 0x44));
        _mm256_storeu_ps(dst + (h + 1) * to, _mm256_shuffle_ps(t[h], t[h + 2], 0xee));
        _mm256_storeu_ps(dst + (h + 2) * to, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0x44));
        _mm256_storeu_ps(dst + (h + 3) * to, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0xee));
    }
}

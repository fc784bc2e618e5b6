// Sixteen float lanes in one AVX-512 register.
#include "vec_x86.h"
#include <string.h>

typedef __m512 v16;

#define KEEP(V) __asm__("" : "+v"(V)) // holds a value in its register, against reloads from memory
#define TILE_M 6
#define DIRECT_ROWS 4
#define DIRECT_COLS(MR) ((MR) <= 2 ? 8 : 4)
#define QUERY_TILE 6
#define SUM_ROWS 8
#define SUM_COLS 3

INLINE v16 v_set1(float a) { return _mm512_set1_ps(a); }
INLINE v16 v_zero(void) { return _mm512_setzero_ps(); }
INLINE v16 v_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE void v_store(float *p, v16 v) { _mm512_storeu_ps(p, v); }
INLINE v16 v_add(v16 a, v16 b) { return _mm512_add_ps(a, b); }
INLINE v16 v_sub(v16 a, v16 b) { return _mm512_sub_ps(a, b); }
INLINE v16 v_mul(v16 a, v16 b) { return _mm512_mul_ps(a, b); }
INLINE v16 v_div(v16 a, v16 b) { return _mm512_div_ps(a, b); }
INLINE v16 v_fma(v16 a, v16 b, v16 c) { return _mm512_fmadd_ps(a, b, c); }
INLINE v16 v_fnma(v16 a, v16 b, v16 c) { return _mm512_fnmadd_ps(a, b, c); }
INLINE v16 v_max(v16 a, v16 b) { return _mm512_max_ps(a, b); }
INLINE v16 v_min(v16 a, v16 b) { return _mm512_min_ps(a, b); }

INLINE v16 v_first(long n, v16 a, float b) {
    __mmask16 keep = n >= 16 ? 0xffff : n <= 0 ? 0 : (__mmask16)((1u << n) - 1);
    return _mm512_mask_mov_ps(_mm512_set1_ps(b), keep, a);
}

INLINE v16 v_round(v16 a) {
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE v16 v_exp2i(v16 a, v16 n) {
    __m512i e = _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23);
    return _mm512_mul_ps(a, _mm512_castsi512_ps(e));
}

// v_hsum4 reduces four vectors together: each shuffle halves two of them.
INLINE void v_hsum4(float *dst, const v16 *v) {
    __m512 ab = _mm512_add_ps(_mm512_shuffle_f32x4(v[0], v[1], 0x44), _mm512_shuffle_f32x4(v[0], v[1], 0xee));
    __m512 cd = _mm512_add_ps(_mm512_shuffle_f32x4(v[2], v[3], 0x44), _mm512_shuffle_f32x4(v[2], v[3], 0xee));
    __m512 q = _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    q = _mm512_add_ps(q, _mm512_permute_ps(q, 0x4e));
    q = _mm512_add_ps(q, _mm512_permute_ps(q, 0xb1));
    const __m512i first = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    _mm_storeu_ps(dst, _mm512_castps512_ps128(_mm512_permutexvar_ps(first, q)));
}

INLINE float v_hsum(v16 v) {
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}

INLINE float v_hmax(v16 v) { return _mm512_reduce_max_ps(v); }

INLINE v16 v_decode_f16(const uint8_t *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

INLINE v16 v_decode_bf16(const uint8_t *p) {
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

INLINE v16 v_sqrt(v16 a) { return _mm512_sqrt_ps(a); }

INLINE void v_encode_f16(uint8_t *p, v16 v) {
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// v_encode_bf16 rounds to nearest even by adding just under half of the last
// kept bit; a NaN keeps its upper half, made quiet.
INLINE void v_encode_bf16(uint8_t *p, v16 v) {
    __m512i u = _mm512_castps_si512(v), upper = _mm512_srli_epi32(u, 16);
    __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd), 16);
    __m512i quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
    rounded = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), quiet);
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(rounded));
}

// Four-bit quants index a register that holds the sixteen decoded values; the
// permutation looks at the low four bits of each lane only.
INLINE void v_decode_block(v16 out[2], int dtype, const uint8_t *q, const float *d, const float *m) {
    const __m512 ramp = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512 scale = _mm512_set1_ps(*d);
    if (dtype == DT_Q8_0) {
        for (int h = 0; h < 2; h++) {
            __m512i b = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(q + 16 * h)));
            out[h] = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(b));
        }
        return;
    }
    __m512 values = dtype == DT_Q4_0 ? _mm512_mul_ps(scale, _mm512_sub_ps(ramp, _mm512_set1_ps(8)))
                                     : _mm512_fmadd_ps(scale, ramp, _mm512_set1_ps(*m));
    __m512i b = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)q));
    out[0] = _mm512_permutexvar_ps(b, values);
    out[1] = _mm512_permutexvar_ps(_mm512_srli_epi32(b, 4), values);
}

INLINE void halves_to_floats(float *dst, const uint16_t *src, long n) {
    for (long i = 0; i < n; i += 16) v_store(dst + i, v_decode_f16((const uint8_t *)(src + i)));
}

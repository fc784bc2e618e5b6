// Sixteen float lanes in two AVX2 registers.
#include "vec_x86.h"
#include <string.h>

typedef struct {
    __m256 lo, hi;
} v16;

#define KEEP(V) __asm__("" : "+x"(V)) // holds a value in its register, against reloads from memory
#define TILE_M 3
#define DIRECT_ROWS 4
#define DIRECT_COLS(MR) ((MR) == 1 ? 4 : (MR) == 2 ? 2 : 1)
#define QUERY_TILE 3
#define SUM_ROWS 6
#define SUM_COLS 1
#define HALF_TILES 1 // sixteen registers hold a tile of half vectors only

INLINE v16 v_set1(float a) { return (v16){_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
INLINE v16 v_zero(void) { return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()}; }
INLINE v16 v_load(const float *p) { return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
INLINE void v_store(float *p, v16 v) {
    _mm256_storeu_ps(p, v.lo);
    _mm256_storeu_ps(p + 8, v.hi);
}
#define V_BINARY(NAME, OP) \
    INLINE v16 NAME(v16 a, v16 b) { return (v16){OP(a.lo, b.lo), OP(a.hi, b.hi)}; }
V_BINARY(v_add, _mm256_add_ps)
V_BINARY(v_sub, _mm256_sub_ps)
V_BINARY(v_mul, _mm256_mul_ps)
V_BINARY(v_div, _mm256_div_ps)
V_BINARY(v_max, _mm256_max_ps)
V_BINARY(v_min, _mm256_min_ps)
#undef V_BINARY
INLINE v16 v_fma(v16 a, v16 b, v16 c) {
    return (v16){_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
INLINE v16 v_fnma(v16 a, v16 b, v16 c) {
    return (v16){_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}

INLINE __m256 first8(long n, __m256 a, float b) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i keep = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
    return _mm256_blendv_ps(_mm256_set1_ps(b), a, _mm256_castsi256_ps(keep));
}
INLINE v16 v_first(long n, v16 a, float b) {
    return (v16){first8(n, a.lo, b), first8(n - 8, a.hi, b)};
}

INLINE v16 v_round(v16 a) {
    return (v16){_mm256_round_ps(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                 _mm256_round_ps(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

INLINE __m256 exp2i8(__m256 a, __m256 n) {
    __m256i e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
    return _mm256_mul_ps(a, _mm256_castsi256_ps(e));
}
INLINE v16 v_exp2i(v16 a, v16 n) { return (v16){exp2i8(a.lo, n.lo), exp2i8(a.hi, n.hi)}; }

// hsum4_halves reduces four vectors whose lanes l and l+8 are already added.
INLINE void hsum4_halves(float *dst, __m256 a, __m256 b, __m256 c, __m256 d) {
    __m256 ab = _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
    __m256 cd = _mm256_add_ps(_mm256_permute2f128_ps(c, d, 0x20), _mm256_permute2f128_ps(c, d, 0x31));
    __m256 q = _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
    q = _mm256_add_ps(q, _mm256_permute_ps(q, 0xb1)); // a a c c | b b d d
    const __m256i order = _mm256_setr_epi32(0, 4, 2, 6, 0, 0, 0, 0);
    _mm_storeu_ps(dst, _mm256_castps256_ps128(_mm256_permutevar8x32_ps(q, order)));
}
INLINE void v_hsum4(float *dst, const v16 *v) {
    hsum4_halves(dst, _mm256_add_ps(v[0].lo, v[0].hi), _mm256_add_ps(v[1].lo, v[1].hi),
                 _mm256_add_ps(v[2].lo, v[2].hi), _mm256_add_ps(v[3].lo, v[3].hi));
}

INLINE float v_hsum(v16 v) {
    __m256 h = _mm256_add_ps(v.lo, v.hi);
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}

INLINE float v_hmax(v16 v) {
    __m256 h = _mm256_max_ps(v.lo, v.hi);
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}

INLINE v16 v_decode_f16(const uint8_t *p) {
    return (v16){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 16)))};
}

INLINE __m256 bf16x8(const uint8_t *p) {
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}
INLINE v16 v_decode_bf16(const uint8_t *p) { return (v16){bf16x8(p), bf16x8(p + 16)}; }

INLINE v16 v_sqrt(v16 a) { return (v16){_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }

INLINE void v_encode_f16(uint8_t *p, v16 v) {
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    _mm_storeu_si128((__m128i *)(p + 16), _mm256_cvtps_ph(v.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

// brain8 rounds to nearest even by adding just under half of the last kept bit;
// a NaN keeps its upper half, made quiet.
INLINE __m256i brain8(__m256 v) {
    __m256i u = _mm256_castps_si256(v), upper = _mm256_srli_epi32(u, 16);
    __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd), 16);
    __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
    return _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
}
INLINE void v_encode_bf16(uint8_t *p, v16 v) {
    __m256i both = _mm256_packus_epi32(brain8(v.lo), brain8(v.hi)); // in each 128-bit lane
    _mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(both, 0xd8));
}

INLINE __m256 signed8(const uint8_t *p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

// Eight bytes hold quants 0..7 in their low nibbles and 16..23 in their high.
INLINE void nibbles8(__m256 *low, __m256 *high, const uint8_t *p) {
    __m256i b = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));
    *low = _mm256_cvtepi32_ps(_mm256_and_si256(b, _mm256_set1_epi32(15)));
    *high = _mm256_cvtepi32_ps(_mm256_srli_epi32(b, 4));
}

INLINE v16 scaled(__m256 d, __m256 lo, __m256 hi) {
    return (v16){_mm256_mul_ps(d, lo), _mm256_mul_ps(d, hi)};
}

INLINE void v_decode_block(v16 out[2], int dtype, const uint8_t *q, const float *d, const float *m) {
    __m256 scale = _mm256_set1_ps(*d), low[2], high[2];
    if (dtype == DT_Q8_0) {
        out[0] = scaled(scale, signed8(q), signed8(q + 8));
        out[1] = scaled(scale, signed8(q + 16), signed8(q + 24));
        return;
    }
    nibbles8(&low[0], &high[0], q);
    nibbles8(&low[1], &high[1], q + 8);
    if (dtype == DT_Q4_0) {
        __m256 eight = _mm256_set1_ps(8);
        out[0] = scaled(scale, _mm256_sub_ps(low[0], eight), _mm256_sub_ps(low[1], eight));
        out[1] = scaled(scale, _mm256_sub_ps(high[0], eight), _mm256_sub_ps(high[1], eight));
        return;
    }
    __m256 min = _mm256_set1_ps(*m);
    out[0] = (v16){_mm256_fmadd_ps(scale, low[0], min), _mm256_fmadd_ps(scale, low[1], min)};
    out[1] = (v16){_mm256_fmadd_ps(scale, high[0], min), _mm256_fmadd_ps(scale, high[1], min)};
}

INLINE void halves_to_floats(float *dst, const uint16_t *src, long n) {
    for (long i = 0; i < n; i += 8)
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i))));
}

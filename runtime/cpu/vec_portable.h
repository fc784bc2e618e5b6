// Sixteen float lanes in the vector extension of GCC and Clang, which compile
// it to whatever the target has.
#include <math.h>
#include <string.h>

typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t i16x __attribute__((vector_size(64)));

#define KEEP(V) (void)(V)
#define TILE_M 1         // rows of x in a register tile
#define DIRECT_ROWS 1    // up to this many rows of x, weights are decoded in registers
#define DIRECT_COLS(MR) 4
#define QUERY_TILE 1     // queries that share a loaded key or value
#define SUM_ROWS 2       // rows of a register tile of the backward products
#define SUM_COLS 1       // and its vectors

INLINE v16 v_set1(float a) { return (v16){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a}; }
INLINE v16 v_zero(void) { return v_set1(0); }
INLINE v16 v_load(const float *p) { v16 v; memcpy(&v, p, 64); return v; }
INLINE void v_store(float *p, v16 v) { memcpy(p, &v, 64); }
INLINE v16 v_add(v16 a, v16 b) { return a + b; }
INLINE v16 v_sub(v16 a, v16 b) { return a - b; }
INLINE v16 v_mul(v16 a, v16 b) { return a * b; }
INLINE v16 v_div(v16 a, v16 b) { return a / b; }
INLINE v16 v_fma(v16 a, v16 b, v16 c) { return a * b + c; }
INLINE v16 v_fnma(v16 a, v16 b, v16 c) { return c - a * b; }

INLINE v16 v_select(i16x mask, v16 a, v16 b) {
    return (v16)((mask & (i16x)a) | (~mask & (i16x)b));
}
INLINE v16 v_max(v16 a, v16 b) { return v_select(a > b, a, b); }
INLINE v16 v_min(v16 a, v16 b) { return v_select(a < b, a, b); }

// v_first keeps lanes below n and sets the others to b.
INLINE v16 v_first(long n, v16 a, float b) {
    const i16x lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_select(lane < (int32_t)n, a, v_set1(b));
}

// v_round rounds to the nearest whole number, |a| < 2^22.
INLINE v16 v_round(v16 a) {
    v16 magic = v_set1(12582912.0f);
    return (a + magic) - magic;
}

// v_exp2i multiplies a by 2^n, n whole and in the range of normal numbers.
INLINE v16 v_exp2i(v16 a, v16 n) {
    i16x e = (__builtin_convertvector(n, i16x) + 127) << 23;
    return a * (v16)e;
}

INLINE float v_hsum(v16 v) {
    float a[16];
    v_store(a, v);
    for (int half = 8; half >= 1; half /= 2)
        for (int l = 0; l < half; l++) a[l] += a[l + half];
    return a[0];
}

INLINE void v_hsum4(float *dst, const v16 *v) {
    for (int i = 0; i < 4; i++) dst[i] = v_hsum(v[i]);
}

INLINE float v_hmax(v16 v) {
    float top = v[0];
    for (int l = 1; l < 16; l++) top = v[l] > top ? v[l] : top;
    return top;
}

INLINE float half_to_float(const uint8_t *p) {
    uint16_t h;
    memcpy(&h, p, 2);
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31, frac = h & 1023, bits;
    float f;
    if (exp == 31) {
        bits = sign | 0x7f800000u | frac << 13;
    } else if (exp == 0) {
        f = (float)frac * 0x1p-24f;
        memcpy(&bits, &f, 4);
        bits |= sign;
    } else {
        bits = sign | (exp + 112) << 23 | frac << 13;
    }
    memcpy(&f, &bits, 4);
    return f;
}

INLINE v16 v_decode_f16(const uint8_t *p) {
    float a[16];
    for (int i = 0; i < 16; i++) a[i] = half_to_float(p + 2 * i);
    return v_load(a);
}

INLINE v16 v_decode_bf16(const uint8_t *p) {
    uint16_t h[16];
    uint32_t w[16];
    float a[16];
    memcpy(h, p, 32);
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)h[i] << 16;
    memcpy(a, w, 64);
    return v_load(a);
}

INLINE v16 v_sqrt(v16 a) {
    for (int i = 0; i < 16; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}

// float_to_half rounds to nearest even, as float_to_brain does.
INLINE uint16_t float_to_half(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    uint32_t sign = u >> 16 & 0x8000, size = u & 0x7fffffff;
    if (size > 0x7f800000u) return (uint16_t)(sign | 0x7e00 | (size >> 13 & 0x1ff));
    if (size >= 0x477ff000u) return (uint16_t)(sign | 0x7c00); // 65520 and above
    if (size < 0x38800000u) { // a multiple of 2^-24; adding 1/2 leaves it in the last bits
        float a;
        memcpy(&a, &size, 4);
        a += 0.5f;
        memcpy(&u, &a, 4);
        return (uint16_t)(sign | (u - 0x3f000000u));
    }
    return (uint16_t)(sign | (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13);
}

INLINE uint16_t float_to_brain(float f) {
    uint32_t u;
    memcpy(&u, &f, 4);
    if (f != f) return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

INLINE void v_encode_f16(uint8_t *p, v16 v) {
    for (int i = 0; i < 16; i++) {
        uint16_t h = float_to_half(v[i]);
        memcpy(p + 2 * i, &h, 2);
    }
}

INLINE void v_encode_bf16(uint8_t *p, v16 v) {
    for (int i = 0; i < 16; i++) {
        uint16_t h = float_to_brain(v[i]);
        memcpy(p + 2 * i, &h, 2);
    }
}

// v_decode_block decodes 32 values: quants at q, scale d, minimum m.
INLINE void v_decode_block(v16 out[2], int dtype, const uint8_t *q, const float *d, const float *m) {
    float a[32];
    if (dtype == DT_Q8_0) {
        for (int i = 0; i < 32; i++) a[i] = *d * (float)(int8_t)q[i];
    } else if (dtype == DT_Q4_0) {
        for (int i = 0; i < 16; i++) a[i] = *d * (float)((q[i] & 15) - 8);
        for (int i = 0; i < 16; i++) a[i + 16] = *d * (float)((q[i] >> 4) - 8);
    } else {
        for (int i = 0; i < 16; i++) a[i] = *d * (float)(q[i] & 15) + *m;
        for (int i = 0; i < 16; i++) a[i + 16] = *d * (float)(q[i] >> 4) + *m;
    }
    out[0] = v_load(a);
    out[1] = v_load(a + 16);
}

// halves_to_floats converts n halves, n a multiple of 16.
INLINE void halves_to_floats(float *dst, const uint16_t *src, long n) {
    for (long i = 0; i < n; i++) dst[i] = half_to_float((const uint8_t *)(src + i));
}

// transpose8 writes eight rows of eight floats, stride from apart, as eight
// columns, stride to apart.
INLINE void transpose8(float *dst, long to, const float *src, long from) {
    for (long c = 0; c < 8; c++)
        for (long r = 0; r < 8; r++) dst[c * to + r] = src[r * from + c];
}

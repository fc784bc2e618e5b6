// The C kernels, one set for each instruction set.
//
// Order of sums. A dot product over k keeps 16 lanes: lane l takes k = l, l+16,
// l+32, … one after another, missing elements at the end count as zero times
// zero, and the lanes are added as (l, l+8), then (l, l+4), (l, l+2), (l, l+1).
// Every path (one row, many rows, any block of columns) keeps this order, so a
// result depends on its own row and weights alone. The AVX2 and AVX-512 kernels
// use fused multiply-add throughout and give the same bits; the portable ones
// round products first.
//
// Attention adds up a query-key product over the head dimension one element
// after another, and goes through the cache page by page with a running maximum
// (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018):
// weights of a page are summed in 16 lanes, values key by key.
#ifndef CR_CPU_KERNELS_H
#define CR_CPU_KERNELS_H

#include <stdint.h>

// Products are fused where the code says so and nowhere else. GCC keeps to that
// under -std=c11.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

// Weight types, numbered as tensor.DType.
enum { DT_F32 = 0, DT_F16 = 1, DT_BF16 = 2, DT_Q8_0 = 4, DT_Q4_0 = 5, DT_Q4_1 = 6 };

// Positions in a page of the cache, as tensor.PageSize.
enum { PAGE = 32 };

#define INLINE static inline __attribute__((always_inline))

// attention_shape is the head layout, and the factor on query-key products.
typedef struct {
    long heads, kv_heads, dim;
    float scale;
} attention_shape;

// product_sum is c[m,n] += Σ_p a(i,p)·b[p,n], p < depth, with b stored as dtype;
// a(i,p) is a[i·lda+p], or a[p·lda+i] where by_columns.
typedef struct {
    float *c;
    const float *a;
    const uint8_t *b;
    int dtype, by_columns;
    long n, depth, lda;
} product_sum;

// packed_grad is the operands of packed_attention_grad but dk and dv.
typedef struct {
    float *dq;
    const float *dy, *out, *lse, *q, *k, *v;
    attention_shape shape;
} packed_grad;

// adamw_step is tensor.AdamWStep worked out: decay is 1 − lr·weight decay, rest is
// 1 − beta, step is lr/(1 − beta1^t), inv_root is 1/√(1 − beta2^t).
typedef struct {
    float grad_scale, decay, beta1, rest1, beta2, rest2, step, inv_root, eps;
} adamw_step;

// cr_kernels is one set. Lengths are in elements; scratch is floats of the
// length that the *_scratch function returns.
typedef struct {
    void (*decode)(float *dst, int dtype, const uint8_t *src, long n);
    void (*rms_norm)(float *dst, const float *x, const float *w, long rows, long d, float eps);
    // columns [lo, hi) of dst [m, n]
    void (*mat_mul)(float *dst, const float *x, const uint8_t *w, int dtype, long m, long n, long k, long lo, long hi,
                    float *scratch);
    long (*mat_mul_scratch)(long m, long k);
    void (*add)(float *dst, const float *a, const float *b, long n, long b_len);
    void (*silu_mul)(float *dst, const float *gate, const float *up, long n);
    void (*rope)(float *x, const float *cos, const float *sin, long rows, long heads, long half);
    // query rows [lo, hi) for one kv head; row i's page list is at pages + first[i]
    void (*attention)(float *dst, const float *q, const float *k, const float *v, attention_shape shape,
                      const int32_t *pos, const int32_t *first, const int32_t *pages, long lo, long hi, long kv_head,
                      float *scratch);
    long (*attention_scratch)(long rows, attention_shape shape);

    // of a training device: rows [row, row+rows) by columns [col, col+cols)
    void (*add_product)(const product_sum *s, long row, long rows, long col, long cols, float *scratch);
    long (*add_product_scratch)(long cols);
    // query rows [lo, hi) of the segment that begins at start, for one kv head; pos counts from start
    void (*packed_attention)(float *dst, float *lse, const float *q, const float *k, const float *v,
                             attention_shape shape, const int32_t *pos, long start, long lo, long hi, long kv_head,
                             float *scratch);
    long (*packed_scratch)(long rows, attention_shape shape);
    // dk and dv point to the segment's first row
    void (*packed_attention_grad)(const packed_grad *g, float *dk, float *dv, long start, long lo, long hi,
                                  long kv_head, float *scratch);
    long (*packed_grad_scratch)(long rows, attention_shape shape);
    void (*convert)(uint8_t *dst, int to, const uint8_t *src, int from, long n);
    void (*add_scaled)(float *dst, const float *src, float scale, long n);
    void (*add_rows)(float *dst, const float *src, const int32_t *rows, long n, long k, long lo, long hi);
    void (*sum_rows)(float *dst, const float *src, long n, long k, long lo, long hi);
    void (*rms_norm_grad)(float *dx, float *dweight, const float *dy, const float *x, const float *w, long rows, long d,
                          float eps);
    void (*silu_mul_grad)(float *dgate, float *dup, const float *dy, const float *gate, const float *up, long n);
    void (*log_probs)(float *logp, float *lse, float *entropy, const float *logits, const int32_t *targets, long rows,
                      long vocab, float temperature);
    void (*log_probs_grad)(float *logits, const float *lse, const float *entropy, const int32_t *targets,
                           const float *dlogp, const float *dentropy, long rows, long vocab, float temperature);
    double (*sum_squares)(const float *x, long n);
    void (*adamw)(float *param, const float *grad, float *m, float *v, adamw_step s, long n);
} cr_kernels;

extern const cr_kernels cr_kernels_portable, cr_kernels_avx2, cr_kernels_avx512;

#endif

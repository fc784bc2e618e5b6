// Operations on rows and elements.

// load_part loads n < 16 values and zeros.
INLINE v16 load_part(const float *p, long n) {
    float a[16] = {0};
    memcpy(a, p, (size_t)n * sizeof *p);
    return v_load(a);
}

INLINE v16 load_upto(const float *p, long n) { return n >= 16 ? v_load(p) : load_part(p, n); }

INLINE void store_upto(float *p, v16 v, long n) {
    if (n >= 16) {
        v_store(p, v);
        return;
    }
    float a[16];
    v_store(a, v);
    memcpy(p, a, (size_t)n * sizeof *p);
}

// exp over sixteen lanes, within 2 units in the last place: x = n·ln2 + r with
// |r| ≤ ln2/2, e^r by the Taylor polynomial of degree 7. Results outside the
// normal numbers stop at their ends.
INLINE v16 v_exp(v16 x) {
    x = v_max(v_set1(-87.3f), v_min(v_set1(88.3f), x));
    v16 n = v_round(v_mul(x, v_set1(1.44269504f)));
    v16 r = v_fnma(n, v_set1(0.693359375f), x); // ln2 in two parts, the first exact in n·part
    r = v_fnma(n, v_set1(-2.12194440e-4f), r);
    v16 p = v_set1(1.0f / 5040);
    p = v_fma(p, r, v_set1(1.0f / 720));
    p = v_fma(p, r, v_set1(1.0f / 120));
    p = v_fma(p, r, v_set1(1.0f / 24));
    p = v_fma(p, r, v_set1(1.0f / 6));
    p = v_fma(p, r, v_set1(0.5f));
    p = v_fma(p, r, v_set1(1));
    p = v_fma(p, r, v_set1(1));
    return v_exp2i(p, n);
}

static void rms_norm(float *dst, const float *x, const float *w, long rows, long d, float eps) {
    for (long r = 0; r < rows; r++, x += d, dst += d) {
        v16 sum = v_zero();
        for (long i = 0; i < d; i += 16) {
            v16 v = load_upto(x + i, d - i);
            sum = v_fma(v, v, sum);
        }
        v16 scale = v_set1(1.0f / __builtin_sqrtf(v_hsum(sum) / (float)d + eps));
        for (long i = 0; i < d; i += 16) {
            v16 v = v_mul(load_upto(x + i, d - i), scale);
            store_upto(dst + i, v_mul(v, load_upto(w + i, d - i)), d - i);
        }
    }
}

static void add(float *dst, const float *a, const float *b, long n, long b_len) {
    for (long r = 0; r < n; r += b_len)
        for (long i = 0; i < b_len; i++) dst[r + i] = a[r + i] + b[i];
}

static void silu_mul(float *dst, const float *gate, const float *up, long n) {
    const v16 one = v_set1(1);
    for (long i = 0; i < n; i += 16) {
        v16 g = load_upto(gate + i, n - i);
        v16 sigmoid = v_div(one, v_add(one, v_exp(v_sub(v_zero(), g))));
        store_upto(dst + i, v_mul(v_mul(g, sigmoid), load_upto(up + i, n - i)), n - i);
    }
}

static void rope(float *x, const float *cos, const float *sin, long rows, long heads, long half) {
    for (long r = 0; r < rows; r++, cos += half, sin += half) {
        for (long h = 0; h < heads; h++, x += 2 * half) {
            for (long i = 0; i < half; i++) {
                float a = x[i], b = x[i + half];
                x[i] = a * cos[i] - b * sin[i];
                x[i + half] = b * cos[i] + a * sin[i];
            }
        }
    }
}

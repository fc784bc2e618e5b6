// Operations of training on rows and elements.
//
// Long sums of one row (over a vocabulary, over a tensor's squares) are taken
// SUM_RUN elements at a time in sixteen lanes, and these sums in double.

enum { SUM_RUN = 1024 };

// convert converts n values; both types have no blocks.
static void convert(uint8_t *dst, int to, const uint8_t *src, int from, long n) {
    for (long i = 0; i < n; i += 16, dst += row_bytes(to, 16), src += row_bytes(from, 16)) {
        const long left = n - i < 16 ? n - i : 16;
        v16 v = decode_plain(from, src, left);
        uint8_t part[64], *out = left < 16 ? part : dst;
        if (to == DT_F32) v_store((float *)out, v);
        if (to == DT_F16) v_encode_f16(out, v);
        if (to == DT_BF16) v_encode_bf16(out, v);
        if (left < 16) memcpy(dst, part, (size_t)row_bytes(to, left));
    }
}

static void add_scaled(float *dst, const float *src, float scale, long n) {
    const v16 s = v_set1(scale);
    for (long i = 0; i < n; i += 16)
        store_upto(dst + i, v_fma(s, load_upto(src + i, n - i), load_upto(dst + i, n - i)), n - i);
}

// add_rows adds columns [lo, hi) of n rows of k values.
static void add_rows(float *dst, const float *src, const int32_t *rows, long n, long k, long lo, long hi) {
    for (long i = 0; i < n; i++) {
        float *to = dst + rows[i] * k;
        const float *from = src + i * k;
        for (long c = lo; c < hi; c++) to[c] += from[c];
    }
}

// sum_rows adds up columns [lo, hi) of n rows of k values, sixty-four rows at a
// time.
static void sum_rows(float *dst, const float *src, long n, long k, long lo, long hi) {
    for (long c = lo; c < hi; c += 16) {
        const long left = hi - c;
        v16 total = v_zero();
        for (long i = 0; i < n; i += 64) {
            v16 run = v_zero();
            for (long r = i; r < n && r < i + 64; r++) run = v_add(run, load_upto(src + r * k + c, left));
            total = v_add(total, run);
        }
        store_upto(dst + c, v_add(load_upto(dst + c, left), total), left);
    }
}

static void rms_norm_grad(float *dx, float *dweight, const float *dy, const float *x, const float *w, long rows, long d,
                          float eps) {
    for (long row = 0; row < rows; row++, x += d, dy += d, dx += d) {
        v16 squares = v_zero(), inner = v_zero();
        for (long i = 0; i < d; i += 16) {
            v16 v = load_upto(x + i, d - i);
            squares = v_fma(v, v, squares);
            inner = v_fma(v_mul(load_upto(dy + i, d - i), load_upto(w + i, d - i)), v, inner);
        }
        const float scale = 1.0f / __builtin_sqrtf(v_hsum(squares) / (float)d + eps);
        const v16 r = v_set1(scale), along = v_set1(scale * scale * v_hsum(inner) / (float)d);
        for (long i = 0; i < d; i += 16) {
            v16 v = load_upto(x + i, d - i), y = load_upto(dy + i, d - i);
            v16 g = v_fnma(v, along, v_mul(y, load_upto(w + i, d - i)));
            store_upto(dx + i, v_fma(r, g, load_upto(dx + i, d - i)), d - i);
            if (dweight)
                store_upto(dweight + i, v_fma(v_mul(y, r), v, load_upto(dweight + i, d - i)), d - i);
        }
    }
}

static void silu_mul_grad(float *dgate, float *dup, const float *dy, const float *gate, const float *up, long n) {
    const v16 one = v_set1(1);
    for (long i = 0; i < n; i += 16) {
        const long left = n - i;
        v16 g = load_upto(gate + i, left), y = load_upto(dy + i, left);
        v16 s = v_div(one, v_add(one, v_exp(v_sub(v_zero(), g))));
        v16 slope = v_mul(s, v_fma(g, v_sub(one, s), one));
        v16 dg = v_fma(v_mul(y, load_upto(up + i, left)), slope, load_upto(dgate + i, left));
        store_upto(dgate + i, dg, left);
        store_upto(dup + i, v_fma(v_mul(y, g), s, load_upto(dup + i, left)), left);
    }
}

INLINE float row_max(const float *x, long n) {
    v16 top = v_set1(-INFINITY);
    for (long i = 0; i < n; i += 16) top = v_max(top, v_first(n - i, load_upto(x + i, n - i), -INFINITY));
    return v_hmax(top);
}

// log_probs computes rows of vocab logits; entropy may be NULL.
static void log_probs(float *logp, float *lse, float *entropy, const float *logits, const int32_t *targets, long rows,
                      long vocab, float temperature) {
    const float scale = 1.0f / temperature;
    const v16 s = v_set1(scale);
    for (long r = 0; r < rows; r++, logits += vocab) {
        const float top = row_max(logits, vocab) * scale;
        const v16 t = v_set1(top);
        double total = 0, mean = 0;
        for (long i = 0; i < vocab; i += SUM_RUN) {
            const long end = vocab - i < SUM_RUN ? vocab : i + SUM_RUN;
            v16 run = v_zero(), run_mean = v_zero();
            for (long j = i; j < end; j += 16) {
                v16 z = v_sub(v_mul(load_upto(logits + j, end - j), s), t);
                v16 p = v_first(end - j, v_exp(z), 0);
                run = v_add(run, p);
                if (entropy) run_mean = v_fma(p, z, run_mean);
            }
            total += (double)v_hsum(run);
            mean += (double)v_hsum(run_mean);
        }
        const double norm = log(total);
        lse[r] = (float)((double)top + norm);
        logp[r] = (float)((double)(logits[targets[r]] * scale - top) - norm);
        if (entropy) entropy[r] = (float)(norm - mean / total);
    }
}

// log_probs_grad overwrites rows of logits by their gradient; entropy and
// dentropy may be NULL.
static void log_probs_grad(float *logits, const float *lse, const float *entropy, const int32_t *targets,
                           const float *dlogp, const float *dentropy, long rows, long vocab, float temperature) {
    const float scale = 1.0f / temperature;
    const v16 s = v_set1(scale);
    for (long r = 0; r < rows; r++, logits += vocab) {
        const v16 norm = v_set1(lse[r]), down = v_set1(-dlogp[r] * scale);
        const v16 mean = v_set1(dentropy ? entropy[r] : 0), by = v_set1(dentropy ? -dentropy[r] * scale : 0);
        for (long j = 0; j < vocab; j += 16) {
            v16 z = v_sub(v_mul(load_upto(logits + j, vocab - j), s), norm);
            v16 factor = dentropy ? v_fma(by, v_add(z, mean), down) : down;
            store_upto(logits + j, v_mul(v_exp(z), factor), vocab - j);
        }
        logits[targets[r]] += dlogp[r] * scale;
    }
}

static double sum_squares(const float *x, long n) {
    double total = 0;
    for (long i = 0; i < n; i += SUM_RUN) {
        const long end = n - i < SUM_RUN ? n : i + SUM_RUN;
        v16 run = v_zero();
        for (long j = i; j < end; j += 16) {
            v16 v = load_upto(x + j, end - j);
            run = v_fma(v, v, run);
        }
        total += (double)v_hsum(run);
    }
    return total;
}

static void adamw(float *param, const float *grad, float *m, float *v, adamw_step s, long n) {
    const v16 scale = v_set1(s.grad_scale), decay = v_set1(s.decay), step = v_set1(s.step);
    const v16 beta1 = v_set1(s.beta1), beta2 = v_set1(s.beta2), rest1 = v_set1(s.rest1), rest2 = v_set1(s.rest2);
    const v16 inv_root = v_set1(s.inv_root), eps = v_set1(s.eps);
    for (long i = 0; i < n; i += 16) {
        const long left = n - i;
        v16 g = v_mul(scale, load_upto(grad + i, left));
        v16 first = v_fma(rest1, g, v_mul(beta1, load_upto(m + i, left)));
        v16 second = v_fma(v_mul(rest2, g), g, v_mul(beta2, load_upto(v + i, left)));
        v16 change = v_div(v_mul(step, first), v_fma(v_sqrt(second), inv_root, eps));
        store_upto(param + i, v_sub(v_mul(decay, load_upto(param + i, left)), change), left);
        store_upto(m + i, first, left);
        store_upto(v + i, second, left);
    }
}

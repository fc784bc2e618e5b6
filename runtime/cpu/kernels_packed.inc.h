// Causal attention inside the segments of a packed batch, forward and backward.
//
// The forward pass takes a segment's keys in pages as the cache holds them, so a
// row has the bits that it has in generation. The backward pass computes a
// page's weights anew from lse (Dao et al., "FlashAttention", 2022): with
// p = exp(s − lse) and g = dy·v, dv += p·dy, ds = p·(g − Σ dy·out)·scale,
// dq += ds·k, dk += ds·q, each a small matrix product in registers. A segment's
// first row sees itself alone, so its weight is 1 whatever its score: its ds is 0
// exactly, where the two sums over dim, taken in different orders, would leave
// their rounding.

enum { GRAD_ROWS = 32 }; // query rows that meet a page together

// padded returns the first count rows of a page for one kv head, copied into
// scratch with zero rows after them where the page is not whole.
static const float *padded(float *scratch, const float *page, long *stride, long dim, long count) {
    if (count == PAGE) return page;
    memset(scratch, 0, (size_t)(PAGE * dim) * sizeof *scratch);
    for (long j = 0; j < count; j++) memcpy(scratch + j * dim, page + j * *stride, (size_t)dim * sizeof *scratch);
    *stride = dim;
    return scratch;
}

static void transpose_page(float *dst, const float *page, long stride, long dim, long count, float *scratch) {
    page = padded(scratch, page, &stride, dim, count);
    transpose_keys(dst, page, stride, dim);
}

INLINE long page_keys(long end, long p) { return end - p * PAGE < PAGE ? end - p * PAGE : PAGE; }

static long packed_scratch(long rows, attention_shape shape) {
    return attention_scratch(rows, shape) + PAGE * shape.dim;
}

static void packed_attention(float *dst, float *lse, const float *q, const float *k, const float *v,
                             attention_shape shape, const int32_t *pos, long start, long lo, long hi, long kv_head,
                             float *scratch) {
    const attention_rows t = {q, pos, shape, lo, shape.heads / shape.kv_heads, kv_head};
    const long queries = (hi - lo) * t.group, stride = shape.kv_heads * shape.dim;
    attention_state s = carve(scratch, queries, shape.dim);
    float *spare = scratch + attention_scratch(hi - lo, shape);
    memset(s.values, 0, (size_t)(queries * s.width) * sizeof(float));
    for (long i = 0; i < queries; i++) {
        s.top[i] = -INFINITY;
        s.sum[i] = 0;
    }
    for (long p = 0; p * PAGE < hi - start; p++) {
        const long at = (start + p * PAGE) * stride + kv_head * shape.dim;
        const long first = start + p * PAGE > lo ? start + p * PAGE : lo;
        transpose_page(s.keys, k + at, stride, shape.dim, page_keys(hi - start, p), spare);
        for (long i = (first - lo) * t.group; i < queries; i += QUERY_TILE)
            take_queries(&s, &t, (page_view){k + at, v + at, stride, p}, i,
                         (int)(queries - i < QUERY_TILE ? queries - i : QUERY_TILE));
    }
    for (long i = 0; i < queries; i++) {
        finish(dst + offset_of(&t, i), &s, i, shape.dim);
        lse[(lo + i / t.group) * shape.heads + kv_head * t.group + i % t.group] = s.top[i] + logf(s.sum[i]);
    }
}

// outer_chunk adds Σ_j weights[i·wi+j·wj]·rows[at[j]+d..] to V vectors, from d
// on, of Q outputs; the last vector has n real lanes.
INLINE void outer_chunk(int Q, int V, float **out, long d, const float *weights, long wi, long wj, const float *rows,
                        const long *at, long count, long n) {
    v16 a[QUERY_TILE][4];
    for (int i = 0; i < Q; i++)
        for (int c = 0; c < V; c++) a[i][c] = load_upto(out[i] + d + 16 * c, c == V - 1 ? n : 16);
    for (long j = 0; j < count; j++) {
        for (int c = 0; c < V; c++) {
            const float *p = rows + at[j] + d + 16 * c;
            v16 value = c == V - 1 ? load_upto(p, n) : v_load(p);
            for (int i = 0; i < Q; i++) a[i][c] = v_fma(v_set1(weights[i * wi + j * wj]), value, a[i][c]);
        }
    }
    for (int i = 0; i < Q; i++)
        for (int c = 0; c < V; c++) store_upto(out[i] + d + 16 * c, a[i][c], c == V - 1 ? n : 16);
}

INLINE void outer(int Q, float **out, const float *weights, long wi, long wj, const float *rows, const long *at,
                  long count, long dim) {
    long d = 0;
    for (; d + 64 <= dim && QUERY_TILE > 3; d += 64) outer_chunk(Q, 4, out, d, weights, wi, wj, rows, at, count, 16);
    for (; d + 32 <= dim; d += 32) outer_chunk(Q, 2, out, d, weights, wi, wj, rows, at, count, 16);
    for (; d < dim; d += 16)
        outer_chunk(Q, 1, out, d, weights, wi, wj, rows, at, count, dim - d < 16 ? dim - d : 16);
}

// outer_all is outer for any number of outputs, which begin at to[i].
static void outer_all(float *out, const long *to, long outputs, const float *weights, long wi, long wj,
                      const float *rows, const long *at, long count, long dim) {
    for (long i = 0; i < outputs; i += QUERY_TILE) {
        float *tile[QUERY_TILE];
        const int q = (int)(outputs - i < QUERY_TILE ? outputs - i : QUERY_TILE);
        for (int j = 0; j < q; j++) tile[j] = out + to[i + j];
        FOR_QUERIES(q, outer(N, tile, weights + i * wi, wi, wj, rows, at, count, dim))
    }
}

// score_all computes the products of the rows at q[at[i]] with a transposed page.
static void score_all(float *dst, const float *q, const long *at, long queries, const float *page, long dim,
                      float scale) {
    for (long i = 0; i < queries; i += QUERY_TILE) {
        const float *tile[QUERY_TILE];
        const int n = (int)(queries - i < QUERY_TILE ? queries - i : QUERY_TILE);
        for (int j = 0; j < n; j++) tile[j] = q + at[i + j];
        score_queries(n, dst + i * PAGE, tile, page, dim, scale);
    }
}

// slope turns a query's scores s into weights, and the products g = dy·v into
// the gradients of its scores; n keys are visible.
INLINE void slope(float *s, float *g, long n, float lse, float delta, float scale) {
    for (int h = 0; h < PAGE; h += 16) {
        v16 p = v_first(n - h, v_exp(v_sub(v_load(s + h), v_set1(lse))), 0);
        v16 ds = v_mul(v_mul(p, v_sub(v_load(g + h), v_set1(delta))), v_set1(scale));
        v_store(s + h, p);
        v_store(g + h, v_first(n - h, ds, 0));
    }
}

INLINE float product_of(const float *a, const float *b, long n) {
    v16 sum = v_zero();
    for (long i = 0; i < n; i += 16) sum = v_fma(load_upto(a + i, n - i), load_upto(b + i, n - i), sum);
    return v_hsum(sum);
}

// packed_grad_scratch holds keys and values transposed, a padded page, weights
// and their gradients for GRAD_ROWS rows, and Σ dy·out of every query.
static long packed_grad_scratch(long rows, attention_shape shape) {
    const long group = shape.heads / shape.kv_heads;
    return 3 * PAGE * shape.dim + 2 * PAGE * GRAD_ROWS + rows * group;
}

// packed_attention_grad takes query rows [lo, hi) of the segment that begins at
// start, for one query group; dk and dv are where the segment's rows begin.
static void packed_attention_grad(const packed_grad *g, float *dk, float *dv, long start, long lo, long hi,
                                  long kv_head, float *scratch) {
    const long dim = g->shape.dim, heads = g->shape.heads, group = heads / g->shape.kv_heads;
    const long stride = g->shape.kv_heads * dim, queries = (hi - lo) * group;
    float *keys = scratch, *values = keys + PAGE * dim, *spare = values + PAGE * dim, *weights = spare + PAGE * dim;
    float *slopes = weights + PAGE * GRAD_ROWS, *delta = slopes + PAGE * GRAD_ROWS;
    for (long i = 0; i < queries; i++) {
        const long at = ((lo + i / group) * heads + kv_head * group + i % group) * dim;
        delta[i] = product_of(g->dy + at, g->out + at, dim);
    }
    for (long p = 0; p * PAGE < hi - start; p++) {
        const long at = (start + p * PAGE) * stride + kv_head * dim, count = page_keys(hi - start, p);
        long key_at[PAGE], grad_at[PAGE];
        for (long j = 0; j < count; j++) {
            key_at[j] = at + j * stride;
            grad_at[j] = key_at[j] - start * stride;
        }
        transpose_page(keys, g->k + at, stride, dim, count, spare);
        transpose_page(values, g->v + at, stride, dim, count, spare);
        for (long row = start + p * PAGE > lo ? start + p * PAGE : lo; row < hi; row += GRAD_ROWS) {
            const long rows = hi - row < GRAD_ROWS ? hi - row : GRAD_ROWS;
            for (long h = 0; h < group; h++) { // one query head at a time: its rows are a plain stride apart
                long query_at[GRAD_ROWS];
                const long head = kv_head * group + h;
                for (long i = 0; i < rows; i++) query_at[i] = ((row + i) * heads + head) * dim;
                score_all(weights, g->q, query_at, rows, keys, dim, g->shape.scale);
                score_all(slopes, g->dy, query_at, rows, values, dim, 1);
                for (long i = 0; i < rows; i++)
                    slope(weights + i * PAGE, slopes + i * PAGE, visible((int32_t)(row + i - start), p),
                          g->lse[(row + i) * heads + head], delta[(row + i - lo) * group + h],
                          row + i == start ? 0 : g->shape.scale);
                outer_all(g->dq, query_at, rows, slopes, PAGE, 1, g->k, key_at, count, dim);
                outer_all(dk, grad_at, count, slopes, 1, PAGE, g->q, query_at, rows, dim);
                outer_all(dv, grad_at, count, weights, 1, PAGE, g->dy, query_at, rows, dim);
            }
        }
    }
}

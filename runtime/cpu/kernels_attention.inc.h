// Causal attention over a paged cache, for some query rows and one kv head.
//
// Queries of a tile (row × query head of the group) keep a running maximum, sum
// and weighted value. Rows next to each other that see the same page take it
// together: its keys are transposed once, then each query's 32 scores are two
// vectors. What a row computes does not depend on who shares the page.

// attention_state is the scratch of a tile, in floats: keys transposed [dim,
// PAGE]; weights [queries, PAGE]; values [queries, dim rounded up]; and for each
// query its maximum and sum.
typedef struct {
    float *keys, *weights, *values, *top, *sum;
    long width; // dim rounded up to sixteen
} attention_state;

// page_view is one page for one kv head: its number in the page lists, and the
// first of its rows, which lie stride floats apart.
typedef struct {
    const float *k, *v;
    long stride, number;
} page_view;

// attention_rows is what the tile works on: query rows from lo, one kv head.
typedef struct {
    const float *q;
    const int32_t *pos;
    attention_shape shape;
    long lo, group, kv_head;
} attention_rows;

INLINE long round16(long n) { return (n + 15) / 16 * 16; }

static long attention_scratch(long rows, attention_shape shape) {
    long queries = rows * (shape.heads / shape.kv_heads);
    return shape.dim * PAGE + queries * (PAGE + 2 + round16(shape.dim));
}

INLINE attention_state carve(float *scratch, long queries, long dim) {
    attention_state s = {.keys = scratch, .width = round16(dim)};
    s.weights = s.keys + dim * PAGE;
    s.values = s.weights + queries * PAGE;
    s.top = s.values + queries * s.width;
    s.sum = s.top + queries;
    return s;
}

// transpose_keys lays a page's keys of one head out as [dim, PAGE].
static void transpose_keys(float *dst, const float *keys, long stride, long dim) {
    const long whole = dim / 8 * 8;
    for (long d = 0; d < whole; d += 8)
        for (long j = 0; j < PAGE; j += 8) transpose8(dst + d * PAGE + j, PAGE, keys + j * stride + d, stride);
    for (long d = whole; d < dim; d++)
        for (long j = 0; j < PAGE; j++) dst[d * PAGE + j] = keys[j * stride + d];
}

// scores computes q·k for Q queries and the 32 keys of a page.
INLINE void scores(int Q, float *dst, const float **q, const float *keys, long dim, float scale) {
    v16 a[QUERY_TILE][2];
    for (int i = 0; i < Q; i++) a[i][0] = a[i][1] = v_zero();
    for (long d = 0; d < dim; d++) {
        v16 k0 = v_load(keys + d * PAGE), k1 = v_load(keys + d * PAGE + 16);
        for (int i = 0; i < Q; i++) {
            v16 qd = v_set1(q[i][d]);
            a[i][0] = v_fma(qd, k0, a[i][0]);
            a[i][1] = v_fma(qd, k1, a[i][1]);
        }
    }
    for (int i = 0; i < Q; i++) {
        v_store(dst + i * PAGE, v_mul(a[i][0], v_set1(scale)));
        v_store(dst + i * PAGE + 16, v_mul(a[i][1], v_set1(scale)));
    }
}

// soften turns the first n scores of a page into weights, in place, and brings
// the query's running sum and values to the new maximum.
static void soften(float *p, long n, float *top, float *sum, float *values, long width) {
    v16 a = v_first(n, v_load(p), -INFINITY), b = v_first(n - 16, v_load(p + 16), -INFINITY);
    float high = v_hmax(v_max(a, b));
    if (high > *top) {
        v16 shrink = v_exp(v_set1(*top - high));
        *top = high;
        float first[16];
        v_store(first, shrink);
        *sum *= first[0];
        for (long d = 0; d < width; d += 16) v_store(values + d, v_mul(v_load(values + d), shrink));
    }
    v16 t = v_set1(*top);
    a = v_first(n, v_exp(v_sub(a, t)), 0);
    b = v_first(n - 16, v_exp(v_sub(b, t)), 0);
    *sum += v_hsum(v_add(a, b));
    v_store(p, a);
    v_store(p + 16, b);
}

// weigh_chunk adds keys [from, to) of a page, V vectors of the head dimension,
// to the values of Q queries; the last vector has n real lanes.
INLINE void weigh_chunk(int Q, int V, float *values, long width, const float *weights, const float *page, long stride,
                        long from, long to, long n) {
    v16 a[QUERY_TILE][4];
    for (int i = 0; i < Q; i++)
        for (int c = 0; c < V; c++) a[i][c] = v_load(values + i * width + 16 * c);
    for (long j = from; j < to; j++) {
        for (int c = 0; c < V; c++) {
            const float *at = page + j * stride + 16 * c;
            v16 value = c == V - 1 ? load_upto(at, n) : v_load(at);
            for (int i = 0; i < Q; i++) a[i][c] = v_fma(v_set1(weights[i * PAGE + j]), value, a[i][c]);
        }
    }
    for (int i = 0; i < Q; i++)
        for (int c = 0; c < V; c++) v_store(values + i * width + 16 * c, a[i][c]);
}

INLINE void weigh(int Q, float *values, long width, const float *weights, const float *page, long stride, long dim,
                  long from, long to) {
    long d = 0;
    for (; d + 64 <= dim && QUERY_TILE > 3; d += 64)
        weigh_chunk(Q, 4, values + d, width, weights, page + d, stride, from, to, 16);
    for (; d + 32 <= dim; d += 32)
        weigh_chunk(Q, 2, values + d, width, weights, page + d, stride, from, to, 16);
    for (; d < dim; d += 16)
        weigh_chunk(Q, 1, values + d, width, weights, page + d, stride, from, to, dim - d < 16 ? dim - d : 16);
}

#if QUERY_TILE > 3
#define FOR_QUERIES(Q, CALL)                     \
    switch (Q) {                                 \
    case 1: { enum { N = 1 }; CALL; } break;     \
    case 2: { enum { N = 2 }; CALL; } break;     \
    case 3: { enum { N = 3 }; CALL; } break;     \
    case 4: { enum { N = 4 }; CALL; } break;     \
    case 5: { enum { N = 5 }; CALL; } break;     \
    case 6: { enum { N = 6 }; CALL; } break;     \
    }
#elif QUERY_TILE > 1
#define FOR_QUERIES(Q, CALL)                     \
    switch (Q) {                                 \
    case 1: { enum { N = 1 }; CALL; } break;     \
    case 2: { enum { N = 2 }; CALL; } break;     \
    case 3: { enum { N = 3 }; CALL; } break;     \
    }
#else
#define FOR_QUERIES(Q, CALL) { enum { N = 1 }; (void)(Q); CALL; }
#endif

static void score_queries(int Q, float *dst, const float **q, const float *keys, long dim, float scale) {
    FOR_QUERIES(Q, scores(N, dst, q, keys, dim, scale))
}

static void weigh_queries(int Q, float *values, long width, const float *weights, const float *page, long stride,
                          long dim, long from, long to) {
    FOR_QUERIES(Q, weigh(N, values, width, weights, page, stride, dim, from, to))
}

// offset_of is where query i of the tile begins in q and dst.
INLINE long offset_of(const attention_rows *t, long i) {
    long head = t->kv_head * t->group + i % t->group;
    return ((t->lo + i / t->group) * t->shape.heads + head) * t->shape.dim;
}

// visible is how many positions of page number p a query at pos sees.
INLINE long visible(int32_t pos, long p) {
    long n = pos + 1 - p * PAGE;
    return n < 0 ? 0 : n > PAGE ? PAGE : n;
}

INLINE long seen_by(const attention_rows *t, long i, long p) { return visible(t->pos[t->lo + i / t->group], p); }

// take_queries runs a page for count queries of the tile, from i on. Values are
// added for the keys that all of them see, then for each one's rest.
static void take_queries(attention_state *s, const attention_rows *t, page_view page, long i, int count) {
    const long dim = t->shape.dim;
    const float *q[QUERY_TILE];
    long common = PAGE;
    for (int j = 0; j < count; j++) q[j] = t->q + offset_of(t, i + j);
    score_queries(count, s->weights + i * PAGE, q, s->keys, dim, t->shape.scale);
    for (long j = i; j < i + count; j++) {
        long n = seen_by(t, j, page.number);
        soften(s->weights + j * PAGE, n, s->top + j, s->sum + j, s->values + j * s->width, s->width);
        if (n < common) common = n;
    }
    weigh_queries(count, s->values + i * s->width, s->width, s->weights + i * PAGE, page.v, page.stride, dim, 0,
                  common);
    for (long j = i; j < i + count; j++) {
        long n = seen_by(t, j, page.number);
        if (n > common)
            weigh_queries(1, s->values + j * s->width, s->width, s->weights + j * PAGE, page.v, page.stride, dim,
                          common, n);
    }
}

// take_page runs one physical page for the queries [from, to) of the tile.
static void take_page(attention_state *s, const attention_rows *t, page_view page, long from, long to) {
    transpose_keys(s->keys, page.k, page.stride, t->shape.dim);
    for (long i = from; i < to; i += QUERY_TILE)
        take_queries(s, t, page, i, (int)(to - i < QUERY_TILE ? to - i : QUERY_TILE));
}

// finish divides by the sums and writes the tile's rows.
INLINE void finish(float *dst, const attention_state *s, long query, long dim) {
    v16 inverse = v_div(v_set1(1), v_set1(s->sum[query]));
    const float *values = s->values + query * s->width;
    for (long d = 0; d < dim; d += 16) store_upto(dst + d, v_mul(v_load(values + d), inverse), dim - d);
}

static void attention(float *dst, const float *q, const float *k, const float *v, attention_shape shape,
                      const int32_t *pos, const int32_t *first, const int32_t *pages, long lo, long hi, long kv_head,
                      float *scratch) {
    const attention_rows t = {q, pos, shape, lo, shape.heads / shape.kv_heads, kv_head};
    const long queries = (hi - lo) * t.group, stride = shape.kv_heads * shape.dim;
    attention_state s = carve(scratch, queries, shape.dim);
    memset(s.values, 0, (size_t)(queries * s.width) * sizeof(float));
    for (long i = 0; i < queries; i++) {
        s.top[i] = -INFINITY;
        s.sum[i] = 0;
    }
    long last = 0;
    for (long r = lo; r < hi; r++)
        if (pos[r] / PAGE > last) last = pos[r] / PAGE;
    for (long p = 0; p <= last; p++) {
        for (long r = lo, from = lo; r < hi; from = r) {
            if (!visible(pos[r], p)) {
                r++;
                continue;
            }
            const int32_t page = pages[first[r] + p];
            while (r < hi && visible(pos[r], p) && pages[first[r] + p] == page) r++;
            const long at = page * PAGE * stride + kv_head * shape.dim;
            take_page(&s, &t, (page_view){k + at, v + at, stride, p}, (from - lo) * t.group, (r - lo) * t.group);
        }
    }
    for (long i = 0; i < queries; i++) finish(dst + offset_of(&t, i), &s, i, shape.dim);
}

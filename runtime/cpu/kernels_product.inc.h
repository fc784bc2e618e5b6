// The products of the backward pass: c[i,j] += Σ_p a(i,p)·b[p,j], where b is
// rows of stored weights or of activations.
//
// A block of b, DEPTH rows at most by WIDTH columns at most, is decoded once
// into panels of SUM_COLS vectors, which threads share and second-level caches
// hold. Each thread takes SUM_ROWS rows of a against every panel. An element of
// c is one chain of multiply-adds over the block's rows, then one addition to c:
// the tile's shape, which differs between instruction sets, does not show.

enum {
    SUM_DEPTH = 288, // rows of b in a block
    SUM_PANEL = 16 * SUM_COLS
};

// pack_block lays rows [lo, hi) of a block of depth rows and cols columns out in
// panels; src is the block's first row and column, stride bytes a row.
static void pack_block(float *dst, const uint8_t *src, int dtype, long stride, long depth, long cols, long lo, long hi,
                       float *scratch) {
    for (long p = lo; p < hi; p++) {
        const uint8_t *row = src + p * stride;
        if (dtype == DT_F32) {
            memcpy(scratch, row, (size_t)cols * sizeof *scratch);
        } else {
            decode(scratch, dtype, row, cols);
        }
        for (long j = 0; j < cols; j += SUM_PANEL) {
            float *panel = dst + j * depth + p * SUM_PANEL;
            for (int v = 0; v < SUM_COLS; v++) v_store(panel + 16 * v, v_load(scratch + j + 16 * v));
        }
    }
}

// pack_left lays rows values of a, at most SUM_ROWS, for each p side by side;
// missing rows are zero. a(i,p) is a[i·lda+p], or a[p·lda+i] where by_columns.
INLINE void pack_left(float *dst, const float *a, long lda, int by_columns, long rows, long depth) {
    long p = 0;
    if (rows == SUM_ROWS && by_columns) {
        for (; p < depth; p++) memcpy(dst + p * SUM_ROWS, a + p * lda, SUM_ROWS * sizeof *dst);
        return;
    }
    if (rows < SUM_ROWS) memset(dst, 0, (size_t)(depth * SUM_ROWS) * sizeof *dst);
    if (SUM_ROWS == 8 && rows == 8)
        for (; p + 8 <= depth; p += 8) transpose8(dst + p * SUM_ROWS, SUM_ROWS, a + p, lda);
    for (; p < depth; p++)
        for (long i = 0; i < rows; i++) dst[p * SUM_ROWS + i] = by_columns ? a[p * lda + i] : a[i * lda + p];
}

// sum_tile computes SUM_ROWS rows against one panel.
INLINE void sum_tile(v16 acc[SUM_ROWS][SUM_COLS], const float *a, const float *b, long depth) {
    for (int i = 0; i < SUM_ROWS; i++)
        for (int v = 0; v < SUM_COLS; v++) acc[i][v] = v_zero();
    for (long p = 0; p < depth; p++, a += SUM_ROWS, b += SUM_PANEL) {
        v16 bs[SUM_COLS];
        for (int v = 0; v < SUM_COLS; v++) bs[v] = v_load(b + 16 * v);
        for (int i = 0; i < SUM_ROWS; i++) {
            v16 ai = v_set1(a[i]);
            for (int v = 0; v < SUM_COLS; v++) acc[i][v] = v_fma(ai, bs[v], acc[i][v]);
        }
    }
}

// add_block adds the product of rows rows of a with a packed block to c.
static void add_block(float *c, long ldc, const float *a, long lda, int by_columns, const float *b, long rows,
                      long cols, long depth) {
    float left[SUM_ROWS * SUM_DEPTH] __attribute__((aligned(64)));
    for (long i = 0; i < rows; i += SUM_ROWS) {
        const long height = rows - i < SUM_ROWS ? rows - i : SUM_ROWS;
        pack_left(left, by_columns ? a + i : a + i * lda, lda, by_columns, height, depth);
        for (long j = 0; j < cols; j += SUM_PANEL) {
            v16 acc[SUM_ROWS][SUM_COLS];
            float *to = c + i * ldc + j;
            for (long r = 0; r < height; r++)
                for (int v = 0; v < SUM_COLS; v++) __builtin_prefetch(to + r * ldc + 16 * v, 1);
            sum_tile(acc, left, b + j * depth, depth);
            for (int r = 0; r < SUM_ROWS; r++) {
                if (r >= height) break;
                for (int v = 0; v < SUM_COLS && j + 16 * v < cols; v++, to += 16)
                    store_upto(to, v_add(load_upto(to, cols - j - 16 * v), acc[r][v]), cols - j - 16 * v);
                to = c + (i + r + 1) * ldc + j;
            }
        }
    }
}

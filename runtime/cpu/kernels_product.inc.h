// The products of the backward pass: c[i,j] += Σ_p a(i,p)·b[p,j], where b is
// rows of stored weights or of activations.
//
// A block of b, SUM_DEPTH rows at most, is decoded into panels of SUM_COLS
// vectors, which the second-level cache holds, and tiles of SUM_ROWS rows of a
// meet it there. An element of c is one chain of multiply-adds for each block,
// then one addition to c: the tiles' shape, which differs between instruction
// sets, does not show.

enum {
    SUM_DEPTH = 288, // rows of b in a block
    LEFT_ROWS = 96,  // rows of a that are packed at a time
    SUM_PANEL = 16 * SUM_COLS
};

// pack_block lays depth rows of b, cols columns of them, out in panels; stride is
// a row's bytes.
static void pack_block(float *dst, const uint8_t *src, int dtype, long stride, long depth, long cols, float *line) {
    for (long p = 0; p < depth; p++, src += stride) {
        if (dtype == DT_F32) {
            memcpy(line, src, (size_t)cols * sizeof *line);
        } else {
            decode(line, dtype, src, cols);
        }
        for (long j = 0; j < cols; j += SUM_PANEL) {
            float *panel = dst + j * depth + p * SUM_PANEL;
            for (int v = 0; v < SUM_COLS; v++) v_store(panel + 16 * v, v_load(line + j + 16 * v));
        }
    }
}

// pack_left lays rows of a out in groups of SUM_ROWS, whose values for each p lie
// side by side; missing rows are zero. a(i,p) is a[i·lda+p], or a[p·lda+i] where
// by_columns. Many rows are taken at once, for columns far apart share cache
// lines and pages.
static void pack_left(float *dst, const float *a, long lda, int by_columns, long rows, long depth) {
    const long whole = rows / SUM_ROWS * SUM_ROWS;
    if (whole < rows) memset(dst + whole * depth, 0, (size_t)(depth * SUM_ROWS) * sizeof *dst);
    if (by_columns) {
        for (long p = 0; p < depth; p++, a += lda) {
            for (long i = 0; i < whole; i += SUM_ROWS) memcpy(dst + i * depth + p * SUM_ROWS, a + i, SUM_ROWS * sizeof *a);
            memcpy(dst + whole * depth + p * SUM_ROWS, a + whole, (size_t)(rows - whole) * sizeof *a);
        }
        return;
    }
    for (long i = 0; i < rows; i += SUM_ROWS, a += SUM_ROWS * lda, dst += SUM_ROWS * depth) {
        const long height = rows - i < SUM_ROWS ? rows - i : SUM_ROWS;
        long p = 0;
        if (SUM_ROWS == 8 && height == 8)
            for (; p + 8 <= depth; p += 8) transpose8(dst + p * SUM_ROWS, SUM_ROWS, a + p, lda);
        for (; p < depth; p++)
            for (long r = 0; r < height; r++) dst[p * SUM_ROWS + r] = a[r * lda + p];
    }
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

// add_tile adds a tile's sums to rows rows and cols columns of c.
INLINE void add_tile(float *c, long ldc, v16 acc[SUM_ROWS][SUM_COLS], long rows, long cols) {
    for (int r = 0; r < SUM_ROWS; r++, c += ldc) {
        if (r >= rows) return;
        for (int v = 0; v < SUM_COLS && 16 * v < cols; v++)
            store_upto(c + 16 * v, v_add(load_upto(c + 16 * v, cols - 16 * v), acc[r][v]), cols - 16 * v);
    }
}

// add_block adds the product of rows rows of a with a packed block to c.
static void add_block(float *c, long ldc, const float *a, long lda, int by_columns, const float *b, long rows,
                      long cols, long depth, float *left) {
    for (long from = 0; from < rows; from += LEFT_ROWS) {
        const long to = rows - from < LEFT_ROWS ? rows : from + LEFT_ROWS;
        pack_left(left, by_columns ? a + from : a + from * lda, lda, by_columns, to - from, depth);
        for (long i = from; i < to; i += SUM_ROWS) {
            const long height = to - i < SUM_ROWS ? to - i : SUM_ROWS;
            for (long j = 0; j < cols; j += SUM_PANEL) {
                v16 acc[SUM_ROWS][SUM_COLS];
                float *at = c + i * ldc + j;
                for (long r = 0; r < height; r++)
                    for (int v = 0; v < SUM_COLS; v++) __builtin_prefetch(at + r * ldc + 16 * v, 1);
                sum_tile(acc, left + (i - from) * depth, b + j * depth, depth);
                add_tile(at, ldc, acc, height, cols - j);
            }
        }
    }
}

INLINE long round_panel(long cols) { return (cols + SUM_PANEL - 1) / SUM_PANEL * SUM_PANEL; }

static long add_product_scratch(long cols) {
    return SUM_DEPTH * round_panel(cols) + LEFT_ROWS * SUM_DEPTH + round_panel(cols);
}

static void add_product(const product_sum *s, long row, long rows, long col, long cols, float *scratch) {
    float *left = scratch + SUM_DEPTH * round_panel(cols), *line = left + LEFT_ROWS * SUM_DEPTH;
    const long stride = row_bytes(s->dtype, s->n), blocks = (s->depth + SUM_DEPTH - 1) / SUM_DEPTH;
    const long depth = (s->depth + blocks - 1) / blocks; // blocks of nearly even depth
    for (long p = 0; p < s->depth; p += depth) {
        const long count = s->depth - p < depth ? s->depth - p : depth;
        pack_block(scratch, s->b + p * stride + row_bytes(s->dtype, col), s->dtype, stride, count, cols, line);
        add_block(s->c + row * s->n + col, s->n, s->by_columns ? s->a + p * s->lda + row : s->a + row * s->lda + p, s->lda,
                  s->by_columns, scratch, rows, cols, count, left);
    }
}

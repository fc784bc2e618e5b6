// Matrix product with stored weights: dst[m,n] = Σ_k x[m,k]·w[n,k].
//
// Few rows of x: weights are decoded in registers, several rows of w at once, so
// that memory is read in several streams. Many rows: a panel of weight rows is
// decoded once into scratch that the second-level cache holds, and every row of
// x meets it there. Both add in the order of kernels.h.

enum {
    PANEL_COLS = 4,        // weight rows interleaved in a panel, and in a register tile
    MAX_COLS = 8,          // most weight rows in a direct tile
    PANEL_BYTES = 256 << 10 // decoded weights held at a time
};

INLINE int is_block(int dtype) { return dtype >= DT_Q8_0; }

// Halves (scale, and minimum) at the front of a block, and the block's bytes.
INLINE int block_halves(int dtype) { return dtype == DT_Q4_1 ? 2 : 1; }
INLINE long block_bytes(int dtype) { return dtype == DT_Q8_0 ? 34 : dtype == DT_Q4_0 ? 18 : 20; }

INLINE long row_bytes(int dtype, long k) {
    if (is_block(dtype)) return k / 32 * block_bytes(dtype);
    return dtype == DT_F32 ? 4 * k : 2 * k;
}

// Floats that hold the scales of one row, rounded up for halves_to_floats.
INLINE long scale_len(long k) { return (2 * (k / 32) + 15) / 16 * 16; }

// unpack_scales converts the scales and minima of weight rows to float, each
// row's at dst + row · scale_len. All are gathered by the integer units first:
// the vector units then see one conversion for sixteen of them, long after the
// narrow stores that it loads from.
INLINE void unpack_scales(float *dst, uint16_t *halves, int dtype, const uint8_t **rows, int count, long k) {
    if (!is_block(dtype)) return;
    const int each = block_halves(dtype);
    const long len = scale_len(k);
    for (int r = 0; r < count; r++)
        for (long b = 0; b < k / 32; b++)
            memcpy(halves + r * len + b * each, rows[r] + b * block_bytes(dtype), 2 * each);
    halves_to_floats(dst, halves, count * len);
}

// decode_plain decodes sixteen values of a type without blocks, n of them real.
INLINE v16 decode_plain(int dtype, const uint8_t *p, long n) {
    uint8_t part[64] = {0};
    if (n < 16) {
        memcpy(part, p, (size_t)row_bytes(dtype, n));
        p = part;
    }
    if (dtype == DT_F16) return v_decode_f16(p);
    if (dtype == DT_BF16) return v_decode_bf16(p);
    return v_load((const float *)p);
}

// decode_step decodes the weights k = 16·step.. of a row: 32 for block types,
// 16 (n of them real) for others.
INLINE void decode_step(v16 out[2], int dtype, const uint8_t *row, const float *scales, long step, long n) {
    if (is_block(dtype)) {
        const int each = block_halves(dtype);
        const float *s = scales + step / 2 * each;
        v_decode_block(out, dtype, row + step / 2 * block_bytes(dtype) + 2 * each, s, s + each - 1);
    } else {
        out[0] = decode_plain(dtype, row + row_bytes(dtype, 16) * step, n);
    }
}

// direct_step adds steps of k for a tile of MR rows of x by NR rows of w.
INLINE void direct_step(int dtype, int MR, int NR, v16 *acc, const float *x, long k, const uint8_t **w,
                        const float *scales, long step, long n) {
    const int wide = is_block(dtype) ? 2 : 1;
    for (int r = 0; r < NR; r++) {
        v16 values[2];
        decode_step(values, dtype, w[r], scales + r * scale_len(k), step, n);
        for (int u = 0; u < wide; u++)
            for (int i = 0; i < MR; i++)
                acc[i * NR + r] = v_fma(load_upto(x + i * k + 16 * (step + u), n), values[u], acc[i * NR + r]);
    }
}

// direct_tile computes columns [col, col+cols) of MR rows, cols ≤ NR.
INLINE void direct_tile(int dtype, int MR, int NR, float *dst, const float *x, const uint8_t *w, long n, long k,
                        long col, long cols, float *scratch) {
    const long stride = row_bytes(dtype, k);
    const uint8_t *rows[MAX_COLS];
    float *scales = scratch;
    uint16_t *halves = (uint16_t *)(scratch + MAX_COLS * scale_len(k));
    for (int r = 0; r < NR; r++) // a column past the end repeats the last
        rows[r] = w + (col + (r < cols ? r : cols - 1)) * stride;
    unpack_scales(scales, halves, dtype, rows, NR, k);
    v16 acc[TILE_M * MAX_COLS];
    for (int i = 0; i < MR * NR; i++) acc[i] = v_zero();
    long step = 0;
    for (; 16 * step + 16 <= k; step += is_block(dtype) ? 2 : 1)
        direct_step(dtype, MR, NR, acc, x, k, rows, scales, step, 16);
    if (!is_block(dtype) && k % 16)
        direct_step(dtype, MR, NR, acc, x, k, rows, scales, step, k % 16);
    for (int i = 0; i < MR; i++) {
        for (int r = 0; r < NR; r += PANEL_COLS > NR ? NR : PANEL_COLS) {
            float out[PANEL_COLS];
            if (NR >= PANEL_COLS) {
                v_hsum4(out, acc + i * NR + r);
            } else {
                for (int c = 0; c < NR; c++) out[c] = v_hsum(acc[i * NR + c]);
            }
            for (int c = 0; c < PANEL_COLS && c < NR && r + c < cols; c++) dst[i * n + col + r + c] = out[c];
        }
    }
}

INLINE void direct(int dtype, int MR, float *dst, const float *x, const uint8_t *w, long n, long k, long lo,
                   long hi, float *scratch) {
    const int NR = DIRECT_COLS(MR);
    for (long col = lo; col < hi; col += NR)
        direct_tile(dtype, MR, NR, dst, x, w, n, k, col, hi - col < NR ? hi - col : NR, scratch);
}

// pack_panel decodes PANEL_COLS weight rows, interleaved by steps of sixteen;
// missing rows repeat the last, missing elements are zero.
INLINE void pack_panel(int dtype, float *panel, const uint8_t *w, long k, long cols, float *scratch) {
    for (int r = 0; r < PANEL_COLS; r++) {
        const uint8_t *row = w + (r < cols ? r : cols - 1) * row_bytes(dtype, k);
        unpack_scales(scratch, (uint16_t *)(scratch + scale_len(k)), dtype, &row, 1, k);
        for (long step = 0; 16 * step < k; step += is_block(dtype) ? 2 : 1) {
            v16 values[2];
            long left = k - 16 * step;
            decode_step(values, dtype, row, scratch, step, left < 16 ? left : 16);
            v_store(panel + (step * PANEL_COLS + r) * 16, values[0]);
            if (is_block(dtype)) v_store(panel + ((step + 1) * PANEL_COLS + r) * 16, values[1]);
        }
    }
}

#ifdef HALF_TILES
enum { HALF_RUN = 256 }; // elements of k whose two halves are read one after the other, from the nearest cache

// tile_half adds k = [from, to) in one half (h = 0 or 8) of the lanes: its twelve
// sums stay in registers, where those of whole vectors would not fit.
INLINE void tile_half(int MR, __m256 sums[TILE_M][PANEL_COLS], const float *x, const float *panel, long k, long from,
                      long to, int h) {
    __m256 acc[TILE_M][PANEL_COLS];
    for (int i = 0; i < MR; i++)
        for (int r = 0; r < PANEL_COLS; r++) acc[i][r] = sums[i][r];
    for (long at = from; at < to; at += 16) {
        __m256 xs[TILE_M];
        for (int i = 0; i < MR; i++) xs[i] = _mm256_loadu_ps(x + i * k + at + h);
        for (int i = 0; i < MR; i++) KEEP(xs[i]);
        for (int r = 0; r < PANEL_COLS; r++) {
            __m256 wv = _mm256_loadu_ps(panel + at * PANEL_COLS + r * 16 + h);
            KEEP(wv);
            for (int i = 0; i < MR; i++) acc[i][r] = _mm256_fmadd_ps(xs[i], wv, acc[i][r]);
        }
    }
    for (int i = 0; i < MR; i++)
        for (int r = 0; r < PANEL_COLS; r++) sums[i][r] = acc[i][r];
}

// tile_rest adds the last elements of k, fewer than sixteen.
INLINE void tile_rest(int MR, __m256 low[TILE_M][PANEL_COLS], __m256 high[TILE_M][PANEL_COLS], const float *x,
                      const float *panel, long k, long at) {
    for (int i = 0; i < MR; i++) {
        v16 part = load_part(x + i * k + at, k - at);
        for (int r = 0; r < PANEL_COLS; r++) {
            v16 wv = v_load(panel + at * PANEL_COLS + r * 16);
            low[i][r] = _mm256_fmadd_ps(part.lo, wv.lo, low[i][r]);
            high[i][r] = _mm256_fmadd_ps(part.hi, wv.hi, high[i][r]);
        }
    }
}

INLINE void tile(int MR, float out[][PANEL_COLS], const float *x, const float *panel, long k) {
    __m256 low[TILE_M][PANEL_COLS], high[TILE_M][PANEL_COLS];
    for (int i = 0; i < MR; i++)
        for (int r = 0; r < PANEL_COLS; r++) low[i][r] = high[i][r] = _mm256_setzero_ps();
    const long whole = k / 16 * 16;
    for (long at = 0; at < whole; at += HALF_RUN) {
        long end = whole - at < HALF_RUN ? whole : at + HALF_RUN;
        tile_half(MR, low, x, panel, k, at, end, 0);
        tile_half(MR, high, x, panel, k, at, end, 8);
    }
    if (whole < k) tile_rest(MR, low, high, x, panel, k, whole);
    for (int i = 0; i < MR; i++) {
        for (int r = 0; r < PANEL_COLS; r++) low[i][r] = _mm256_add_ps(low[i][r], high[i][r]);
        hsum4_halves(out[i], low[i][0], low[i][1], low[i][2], low[i][3]);
    }
}
#else
INLINE void tile(int MR, float out[][PANEL_COLS], const float *x, const float *panel, long k) {
    v16 acc[TILE_M][PANEL_COLS];
    for (int i = 0; i < MR; i++)
        for (int r = 0; r < PANEL_COLS; r++) acc[i][r] = v_zero();
    long at = 0;
    for (; at + 16 <= k; at += 16) {
        v16 ws[PANEL_COLS];
        for (int r = 0; r < PANEL_COLS; r++) ws[r] = v_load(panel + at * PANEL_COLS + r * 16);
        for (int r = 0; r < PANEL_COLS; r++) KEEP(ws[r]);
        for (int i = 0; i < MR; i++) {
            v16 xv = v_load(x + i * k + at);
            for (int r = 0; r < PANEL_COLS; r++) acc[i][r] = v_fma(xv, ws[r], acc[i][r]);
        }
    }
    if (at < k) {
        for (int i = 0; i < MR; i++) {
            v16 xv = load_part(x + i * k + at, k - at);
            for (int r = 0; r < PANEL_COLS; r++)
                acc[i][r] = v_fma(xv, v_load(panel + at * PANEL_COLS + r * 16), acc[i][r]);
        }
    }
    for (int i = 0; i < MR; i++) v_hsum4(out[i], acc[i]);
}
#endif

// tile_rows runs a tile with its number of rows known to the compiler.
static void tile_rows(long rows, float out[][PANEL_COLS], const float *x, const float *panel, long k) {
    switch (rows) {
    case 1: tile(1, out, x, panel, k); break;
#if TILE_M > 1
    case 2: tile(2, out, x, panel, k); break;
    case 3: tile(3, out, x, panel, k); break;
#endif
#if TILE_M > 3
    case 4: tile(4, out, x, panel, k); break;
    case 5: tile(5, out, x, panel, k); break;
    case 6: tile(6, out, x, panel, k); break;
#endif
    }
}

INLINE long panel_len(long k) { return PANEL_COLS * ((k + 15) / 16 * 16); }

// panel_count is how many panels scratch holds.
INLINE long panel_count(long k) {
    long count = PANEL_BYTES / (4 * panel_len(k));
    return count < 1 ? 1 : count;
}

// by_panels computes columns [lo, hi), hi-lo no more than the panels hold.
INLINE void by_panels(int dtype, float *dst, const float *x, const uint8_t *w, long m, long n, long k, long lo,
                      long hi, float *scratch) {
    float *panels = scratch + 2 * scale_len(k);
    for (long col = lo; col < hi; col += PANEL_COLS)
        pack_panel(dtype, panels + (col - lo) / PANEL_COLS * panel_len(k), w + col * row_bytes(dtype, k), k,
                   hi - col, scratch);
    const long tiles = (m + TILE_M - 1) / TILE_M, height = (m + tiles - 1) / tiles; // of nearly even height
    for (long row = 0; row < m; row += height) {
        long rows = m - row < height ? m - row : height;
        for (long col = lo; col < hi; col += PANEL_COLS) {
            float out[TILE_M][PANEL_COLS];
            for (long i = 0; i < rows; i++) __builtin_prefetch(dst + (row + i) * n + col, 1);
            tile_rows(rows, out, x + row * k, panels + (col - lo) / PANEL_COLS * panel_len(k), k);
            for (long i = 0; i < rows; i++)
                for (long c = 0; c < PANEL_COLS && col + c < hi; c++) dst[(row + i) * n + col + c] = out[i][c];
        }
    }
}

INLINE void product(int dtype, float *dst, const float *x, const uint8_t *w, long m, long n, long k, long lo,
                    long hi, float *scratch) {
    switch (m <= DIRECT_ROWS ? m : 0) {
    case 1: direct(dtype, 1, dst, x, w, n, k, lo, hi, scratch); return;
#if DIRECT_ROWS > 1
    case 2: direct(dtype, 2, dst, x, w, n, k, lo, hi, scratch); return;
#endif
#if DIRECT_ROWS > 2
    case 3: direct(dtype, 3, dst, x, w, n, k, lo, hi, scratch); return;
    case 4: direct(dtype, 4, dst, x, w, n, k, lo, hi, scratch); return;
#endif
    }
    long width = panel_count(k) * PANEL_COLS;
    for (long col = lo; col < hi; col += width)
        by_panels(dtype, dst, x, w, m, n, k, col, hi - col < width ? hi : col + width, scratch);
}

// mat_mul_scratch returns the floats of scratch that mat_mul needs.
// Decoding a weight twice in registers costs less than a trip through scratch.
INLINE int is_direct(long m) { return m <= 2 * DIRECT_ROWS; }

static long mat_mul_scratch(long m, long k) {
    if (is_direct(m)) return 2 * MAX_COLS * scale_len(k);
    return 2 * scale_len(k) + panel_count(k) * panel_len(k);
}

// mat_mul_part is mat_mul with the type known to the compiler below.
static void mat_mul_part(float *dst, const float *x, const uint8_t *w, int dtype, long m, long n, long k, long lo,
                         long hi, float *scratch) {
    switch (dtype) {
    case DT_F32: product(DT_F32, dst, x, w, m, n, k, lo, hi, scratch); break;
    case DT_F16: product(DT_F16, dst, x, w, m, n, k, lo, hi, scratch); break;
    case DT_BF16: product(DT_BF16, dst, x, w, m, n, k, lo, hi, scratch); break;
    case DT_Q8_0: product(DT_Q8_0, dst, x, w, m, n, k, lo, hi, scratch); break;
    case DT_Q4_0: product(DT_Q4_0, dst, x, w, m, n, k, lo, hi, scratch); break;
    case DT_Q4_1: product(DT_Q4_1, dst, x, w, m, n, k, lo, hi, scratch); break;
    }
}

static void mat_mul(float *dst, const float *x, const uint8_t *w, int dtype, long m, long n, long k, long lo, long hi,
                    float *scratch) {
    const long height = m > DIRECT_ROWS && is_direct(m) ? (m + 1) / 2 : m;
    for (long row = 0; row < m; row += height)
        mat_mul_part(dst + row * n, x + row * k, w, dtype, m - row < height ? m - row : height, n, k, lo, hi, scratch);
}

INLINE void decode_as(int dtype, float *dst, const uint8_t *src, long n) {
    for (long at = 0; at < n; at += is_block(dtype) ? 32 : 16) {
        v16 values[2];
        float scales[16];
        uint16_t halves[16] = {0};
        const uint8_t *p = src + row_bytes(dtype, at);
        unpack_scales(scales, halves, dtype, &p, 1, 32);
        decode_step(values, dtype, p, scales, 0, n - at < 16 ? n - at : 16);
        store_upto(dst + at, values[0], n - at);
        if (is_block(dtype)) v_store(dst + at + 16, values[1]);
    }
}

static void decode(float *dst, int dtype, const uint8_t *src, long n) {
    switch (dtype) {
    case DT_F32: decode_as(DT_F32, dst, src, n); break;
    case DT_F16: decode_as(DT_F16, dst, src, n); break;
    case DT_BF16: decode_as(DT_BF16, dst, src, n); break;
    case DT_Q8_0: decode_as(DT_Q8_0, dst, src, n); break;
    case DT_Q4_0: decode_as(DT_Q4_0, dst, src, n); break;
    case DT_Q4_1: decode_as(DT_Q4_1, dst, src, n); break;
    }
}

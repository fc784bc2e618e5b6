// The kernels over sixteen lanes, compiled once per instruction set. The file
// that includes this one has defined KERNELS, the name of its set, and included
// its vec_*.h.
#include "kernels_rows.inc.h"
#include "kernels_matmul.inc.h"
#include "kernels_attention.inc.h"
#include "kernels_packed.inc.h"
#include "kernels_product.inc.h"
#include "kernels_training.inc.h"

const cr_kernels KERNELS = {
    .decode = decode,
    .rms_norm = rms_norm,
    .mat_mul = mat_mul,
    .mat_mul_scratch = mat_mul_scratch,
    .add = add,
    .silu_mul = silu_mul,
    .rope = rope,
    .attention = attention,
    .attention_scratch = attention_scratch,
    .add_product = add_product,
    .add_product_scratch = add_product_scratch,
    .packed_attention = packed_attention,
    .packed_scratch = packed_scratch,
    .packed_attention_grad = packed_attention_grad,
    .packed_grad_scratch = packed_grad_scratch,
    .convert = convert,
    .add_scaled = add_scaled,
    .add_rows = add_rows,
    .sum_rows = sum_rows,
    .rms_norm_grad = rms_norm_grad,
    .silu_mul_grad = silu_mul_grad,
    .log_probs = log_probs,
    .log_probs_grad = log_probs_grad,
    .sum_squares = sum_squares,
    .adamw = adamw,
};

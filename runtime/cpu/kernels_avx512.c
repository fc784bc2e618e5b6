#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c,prefer-vector-width=512")
#include <math.h>
#include "kernels.h"
#include "vec_avx512.h"
#define KERNELS cr_kernels_avx512
#include "kernels.inc.h"
#endif

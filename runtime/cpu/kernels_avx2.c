#if defined(__x86_64__)
#pragma GCC target("avx2,fma,f16c")
#include <math.h>
#include "kernels.h"
#include "vec_avx2.h"
#define KERNELS cr_kernels_avx2
#include "kernels.inc.h"
#endif

#include "kernels.h"
#include "vec_portable.h"
#define KERNELS cr_kernels_portable
#include "kernels.inc.h"

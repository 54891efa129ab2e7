/* All that the kernels of transformers need. */
#ifndef EDGEC_TRANSFORMER_H
#define EDGEC_TRANSFORMER_H

#include "edgec/attention.h"
#include "edgec/lengths.h"
#include "edgec/mixed.h"
#include "edgec/neon_attention.h"
#include "edgec/neon_norm.h"
#include "edgec/neon_products.h"
#include "edgec/neon_requant.h"
#include "edgec/neon_table.h"
#include "edgec/norm.h"
#include "edgec/requant16.h"
#include "edgec/tile_4x2.h"
#include "edgec/tile_4x2_exact.h"
#include "edgec/tile_4x2_high.h"
#include "edgec/tile_4x2_out.h"
#include "edgec/values.h"
#include "edgec/wide.h"

#endif

/* All that the kernels of transformers need. */
#ifndef EDGEC_TRANSFORMER_H
#define EDGEC_TRANSFORMER_H

#include "edgec/attention.h"
#include "edgec/norm.h"
#include "edgec/quads.h"
#include "edgec/requant16.h"
#include "edgec/values.h"

#endif

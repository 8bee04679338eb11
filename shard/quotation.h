#pragma once

#include "base/quotation.h"

namespace ringside::shard {

using ringside::quotation;

}  // namespace ringside::shard

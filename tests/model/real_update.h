#pragma once

#include <memory>

#include "cache/stored_response.h"

namespace ringside::model {

// What StoredHead::updated does in the product.
[[nodiscard]] std::shared_ptr<const cache::StoredHead> real_updated(
    const cache::StoredHead& stored, const http::Fields& fields, const http::Fields& request,
    const cache::ExchangeTimes& times, const cache::Rules& rules);

}  // namespace ringside::model

#pragma once

#include <cstddef>
#include <cstdint>

#include "metrics/totals.h"

namespace ringside::support {

// Errors counted by their source, whatever they were; of origins also those that another try
// followed.
inline std::uint64_t errors_by(const metrics::Totals& totals, ErrorSource source) {
  using metrics::ErrorCause;
  constexpr const char* row = "ringside_errors_total";
  std::uint64_t errors =
      source == ErrorSource::origin ? totals.of(row, ErrorCause::failed_over) : 0;
  for (std::size_t kind = 0; kind < metrics::error_kind_count; ++kind) {
    errors += totals.of(row, metrics::error_cause(source, static_cast<ErrorKind>(kind)));
  }
  return errors;
}

}  // namespace ringside::support

#pragma once

#include <initializer_list>

#include "http/fields.h"

namespace ringside::cache {

// Of literals: nothing owns the bytes.
inline http::Fields fields_of(std::initializer_list<http::Field> lines) {
  http::Fields fields;
  for (const http::Field& line : lines) fields.add(line.name, line.value);
  return fields;
}

}  // namespace ringside::cache

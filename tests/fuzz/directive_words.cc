// The names of the cache directives that we heed, as entries of a libFuzzer dictionary.
#include <cstdio>

#include "http/cache_control.h"

namespace {

template <class Rows>
void print(const Rows& rows) {
  for (const auto& row : rows) {
    std::printf("\"%s%s\"\n", row.name.data(), row.seconds == nullptr ? "" : "=");
  }
}

}  // namespace

int main() {
  print(ringside::http::kRequestDirectives);
  print(ringside::http::kResponseDirectives);
}

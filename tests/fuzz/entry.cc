#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringside::fuzz::examine({reinterpret_cast<const char*>(data), size});
  return 0;
}

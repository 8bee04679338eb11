#include "program/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/version.hpp>

#include "shard/topology.h"

namespace ringside::program {

std::string version_text() {
  std::string out = fmt::format("ringside {}\n", RINGSIDE_VERSION);
#ifdef RINGSIDE_COMMIT
  out += fmt::format("commit   {}\n", RINGSIDE_COMMIT);
#endif
#ifdef __clang__
  out += fmt::format("compiler clang {}\n", __clang_version__);
#else
  out += fmt::format("compiler gcc {}\n", __VERSION__);
#endif
  constexpr int major = BOOST_VERSION / 100'000;
  constexpr int minor = BOOST_VERSION / 100 % 1000;
  out += fmt::format("boost    {}.{}.{}\n", major, minor, BOOST_VERSION % 100);
  out += fmt::format("schemes  {}\n", fmt::join(shard::scheme_names(), ", "));
  return out;
}

}  // namespace ringside::program

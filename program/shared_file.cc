#include "program/shared_file.h"

#include <filesystem>
#include <system_error>

namespace ringside::program {

std::string shared_file(std::string_view name) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  const fs::path folder = program.parent_path();
  for (const fs::path& base : {folder, folder.parent_path()}) {
    const fs::path file = base / "share" / "ringside" / name;
    if (fs::exists(file, failure)) return file.string();
  }
  return {};
}

}  // namespace ringside::program

#include "program/state_writer.h"

namespace ringside::program {

Result<StateWriter> StateWriter::parse(std::string_view text) {
  if (text == "self") return StateWriter{};
  auto at = Endpoint::parse(text);
  if (!at) return invalid_input(at.error().message + "; or write self, for this process");
  if (at->port == 0) return invalid_input("nobody is reached at port 0; write the writer's");
  return StateWriter{*std::move(at)};
}

}  // namespace ringside::program

#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "program/simulate.h"

namespace ringside::program {

// What CLI11 found of `ringside simulate`; its meaning is read afterwards.
struct SimulateTexts {
  std::string keys;
  std::string zipf;
  std::string keys_file;
  std::string log;
  std::string host;
  std::string config_file;
  std::string shard_key;
  std::string geo;
  bool geo_optional = false;
  std::string schemes;
  std::string replicas = "10,11,12,10";
  std::vector<std::string> weights;
  bool json = false;
  bool csv = false;
  std::string html_file;
};

void add_simulate(CLI::App& app, SimulateTexts& texts);

// An Error names the option.
[[nodiscard]] Result<void> read_simulate(const SimulateTexts& texts, SimulateOptions& out);

}  // namespace ringside::program

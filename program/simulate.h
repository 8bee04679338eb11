#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "program/invocation.h"
#include "simulate/simulation.h"

namespace ringside::program {

struct SimulateOptions {
  enum class Form { table, json, csv };

  std::vector<std::string> schemes;
  std::vector<simulate::Step> steps;
  std::size_t generated_keys = 1'000'000;
  double zipf_exponent = 1;
  std::string keys_file;  // empty: not from one
  std::string log;        // an access log; empty: not from one
  std::string host;       // of the log's requests; empty: none
  Invocation invocation;  // by which configuration the log's requests have their keys
  Form form = Form::table;
  std::string html_file;  // empty: none
};

// `ringside simulate`.
[[nodiscard]] Result<void> run_simulate(const SimulateOptions& options, const Clock& clock);

}  // namespace ringside::program

#pragma once

#include <string>

namespace ringside::k8s {

// Which StatefulSet holds the replicas, and which port of its pods takes their requests.
struct Target {
  std::string name_space;
  std::string stateful_set;
  std::string port;  // a name or a number; empty: the port named `http`, else the only one
  bool operator==(const Target&) const = default;
};

}  // namespace ringside::k8s

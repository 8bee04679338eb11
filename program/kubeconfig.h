#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "k8s/access.h"

namespace ringside::program {

// What a kubeconfig file says of its current context.
struct Kubeconfig {
  k8s::Access access;
  std::string name_space;  // `default` where it names none
};

// Reads a kubeconfig (kubectl's file) and the certificates and keys that it names; names of files
// are relative to its own folder. Of the ways to prove who one is: tokens, files with tokens and
// client certificates. Programs that make tokens (`exec`, `auth-provider`) are refused: a sidecar
// has a service account.
[[nodiscard]] Result<Kubeconfig> read_kubeconfig(const std::string& path);

// The same of a text, `path` being where it stood. Reads the files that it names.
[[nodiscard]] Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path);

}  // namespace ringside::program

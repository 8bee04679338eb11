#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cache/rules.h"
#include "program/yaml_file.h"

// Reads the values of a `cache` map's keys. An Error names the file, the line and the key.
namespace ringside::program {

[[nodiscard]] Result<bool> read_switch(const YamlFile& file, const YamlValue::Entry& entry);
// `none` takes away what the file says for all routes.
[[nodiscard]] Result<std::optional<Seconds>> read_ttl(const YamlFile& file,
                                                      const YamlValue::Entry& entry);
[[nodiscard]] Result<std::vector<cache::StatusTtl>> read_ttl_by_status(
    const YamlFile& file, const YamlValue::Entry& entry);
[[nodiscard]] Result<unsigned> read_percent(const YamlFile& file, const YamlValue::Entry& entry);
[[nodiscard]] Result<std::vector<std::string>> read_targeted(const YamlFile& file,
                                                             const YamlValue::Entry& entry);
[[nodiscard]] Result<cache::InvalidAge> read_invalid_age(const YamlFile& file,
                                                         const YamlValue::Entry& entry);
[[nodiscard]] Result<cache::SetCookie> read_set_cookie(const YamlFile& file,
                                                       const YamlValue::Entry& entry);
[[nodiscard]] Result<std::optional<Seconds>> read_client_no_cache(const YamlFile& file,
                                                                  const YamlValue::Entry& entry);
[[nodiscard]] Result<std::vector<cache::Condition>> read_conditions(const YamlFile& file,
                                                                    const YamlValue::Entry& entry);
[[nodiscard]] Result<std::size_t> read_variants_most(const YamlFile& file,
                                                     const YamlValue::Entry& entry);
[[nodiscard]] Result<std::vector<std::string>> read_content_codings(const YamlFile& file,
                                                                    const YamlValue::Entry& entry);
[[nodiscard]] Result<http::QueryRules> read_query(const YamlFile& file,
                                                  const YamlValue::Entry& entry);
[[nodiscard]] Result<http::PathRules> read_paths(const YamlFile& file,
                                                 const YamlValue::Entry& entry);
[[nodiscard]] Result<http::FieldRules> read_request_fields(const YamlFile& file,
                                                           const YamlValue::Entry& entry);
[[nodiscard]] Result<http::FieldRules> read_response_fields(const YamlFile& file,
                                                            const YamlValue::Entry& entry);
[[nodiscard]] Result<std::size_t> read_slice(const YamlFile& file, const YamlValue::Entry& entry);

}  // namespace ringside::program

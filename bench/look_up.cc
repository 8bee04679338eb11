// What a look-up costs in a plain hash table with as many keys as a replica has objects, for
// bench/scale: how it grows with their number is the machine's memory's doing.
//
//   look_up KEYS
//
// Each key is text, and each value a block of its own that is read whole. Prints us per look-up.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::size_t value_size_bytes = 512;  // about what a replica keeps for an object of 100 B
constexpr std::uint64_t look_ups = 2'000'000;

std::string key_of(std::uint64_t number) {
  return "http://127.0.0.1:8000/100/" + std::to_string(number);
}

}  // namespace

int main(int count, char** words) {
  const std::span<char*> arguments(words, static_cast<std::size_t>(count));
  if (arguments.size() != 2) {
    std::fputs("look_up KEYS\n", stderr);
    return 2;
  }
  const std::uint64_t keys = std::strtoull(arguments[1], nullptr, 10);
  std::unordered_map<std::string, std::unique_ptr<std::vector<char>>> table;
  for (std::uint64_t number = 0; number < keys; ++number) {
    table.emplace(key_of(number), std::make_unique<std::vector<char>>(value_size_bytes, 'x'));
  }
  std::mt19937_64 engine(11);
  std::uniform_int_distribution<std::uint64_t> draw(0, keys - 1);
  std::uint64_t read = 0;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < look_ups; ++i) {
    const auto& value = *table.at(key_of(draw(engine)));
    read = std::accumulate(value.begin(), value.end(), read);
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
  if (read == 0) return 1;
  std::printf("%.4f\n", took.count() / static_cast<double>(look_ups));
}

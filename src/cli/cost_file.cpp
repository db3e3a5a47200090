#include "cli/cost_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cost/table_json.h"

namespace faultline::cli {

std::expected<cost::CostTable, std::string> load_costs(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) {
    return std::unexpected(fmt::format("cannot read {}: it is a directory; expected a table of costs", path));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return std::unexpected(fmt::format("cannot read {}: {}", path, errno != 0 ? std::strerror(errno) : "it is empty"));
  }
  auto table = cost::read_table(text.view());
  if (!table) return std::unexpected(fmt::format("{} is no table of costs: {}", path, table.error()));
  return table;
}

}  // namespace faultline::cli

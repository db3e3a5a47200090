#include "record/symbols.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace faultline::record {
namespace {

std::string base_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

/// Whose functions stand between a program and the kernel.
bool is_c_library(std::string_view path) {
  const std::string name = base_name(path);
  return name.starts_with("libc.so") || name.starts_with("libc-") || name.starts_with("ld-") ||
         name.starts_with("ld.so") || name.starts_with("libpthread");
}

}  // namespace

/// An ELF file, opened by elfutils.
class Symbols::File {
 public:
  explicit File(const std::string& path) {
    static char* no_folder = nullptr;
    static const Dwfl_Callbacks callbacks{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                          dwfl_offline_section_address, &no_folder};
    dwfl_.reset(dwfl_begin(&callbacks));
    if (dwfl_ == nullptr) return;
    dwfl_report_begin(dwfl_.get());
    module_ = dwfl_report_offline(dwfl_.get(), "", path.c_str(), -1);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  }

  const Symbol& at(std::uint64_t file_offset) {
    const auto [found, is_new] = known_.try_emplace(file_offset);
    if (is_new) found->second = find(file_offset);
    return found->second;
  }

 private:
  /// A symbol of code. One of length 0 reaches to the next.
  struct Function {
    GElf_Addr start = 0;
    GElf_Addr end = 0;
    bool is_global = false;
    const char* name = nullptr;  // elfutils's
  };

  Symbol find(std::uint64_t file_offset) {
    if (module_ == nullptr) return {};
    GElf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module_, &bias);
    const auto address = address_of(elf, file_offset);
    if (!address) return {};
    Symbol symbol;
    if (const Function* function = function_at(*address + bias); function != nullptr) symbol.function = function->name;
    if (Dwfl_Line* line = dwfl_module_getsrc(module_, *address + bias); line != nullptr) {
      int number = 0;
      const char* source = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
      if (source != nullptr) {
        symbol.file = source;
        symbol.line = static_cast<std::uint32_t>(number);
      }
    }
    return symbol;
  }

  /// elfutils itself looks through all symbols for each address, and some libraries have a hundred thousand.
  void read_functions() {
    functions_.emplace();
    const int count = dwfl_module_getsymtab(module_);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol{};
      GElf_Addr address = 0;
      GElf_Word section = 0;
      const char* name = dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
      const auto type = GELF_ST_TYPE(symbol.st_info);
      const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
      if (name == nullptr || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS || !is_code) continue;
      functions_->push_back({address, address + symbol.st_size, GELF_ST_BIND(symbol.st_info) != STB_LOCAL, name});
    }
    // Of several at one address the last is taken: a global one with a length, that is no one's private name.
    std::ranges::sort(*functions_, [](const Function& a, const Function& b) {
      const auto rank = [](const Function& f) {
        return std::tuple(f.start, f.end != f.start, f.is_global, *f.name != '_');
      };
      return rank(a) != rank(b) ? rank(a) < rank(b) : std::string_view(a.name) > std::string_view(b.name);
    });
  }

  const Function* function_at(GElf_Addr address) {
    if (!functions_) read_functions();
    auto at = std::ranges::upper_bound(*functions_, address, {}, &Function::start);
    // One that has ended may lie in one that has not.
    constexpr int kMostNested = 16;
    for (int i = 0; i < kMostNested && at != functions_->begin(); ++i) {
      --at;
      if (address < at->end || at->end == at->start) return &*at;
    }
    return nullptr;
  }

  static std::optional<GElf_Addr> address_of(Elf* elf, std::uint64_t file_offset) {
    std::size_t count = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment{};
      if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_LOAD) continue;
      if (file_offset >= segment.p_offset && file_offset - segment.p_offset < segment.p_filesz) {
        return segment.p_vaddr + (file_offset - segment.p_offset);
      }
    }
    return std::nullopt;
  }

  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
  std::optional<std::vector<Function>> functions_;   // by address
  std::unordered_map<std::uint64_t, Symbol> known_;  // by offset in the file
};

Symbols::Symbols(const Import& recording) : recording_(recording) {}
Symbols::~Symbols() = default;

Symbols::Place Symbols::place(const SiteTable::Node& node, bool is_caller) {
  // A return address may be the next line's.
  const std::uint64_t address = node.address - (is_caller ? 1 : 0);
  if (node.image >= recording_.code.size()) return {};
  const auto& code = recording_.code[node.image];
  // The last that was mapped there.
  const auto found = std::find_if(code.rbegin(), code.rend(),
                                  [&](const Code& part) { return address >= part.start && address < part.end; });
  if (found == code.rend()) return {};
  auto& file = files_[found->path];
  if (file == nullptr) file = std::make_unique<File>(found->path);
  const std::uint64_t offset = address - found->start + found->offset;
  return {&*found, offset, file->at(offset)};
}

std::string Symbols::text(const Place& place, std::uint64_t address) {
  if (place.code == nullptr) return hexadecimal(address);
  const std::string file = base_name(place.code->path);
  if (place.symbol.function.empty()) return file + "+" + hexadecimal(place.offset);
  const Symbol& symbol = place.symbol;
  return symbol.function + " " +
         (symbol.file.empty() ? file : base_name(symbol.file) + ":" + std::to_string(symbol.line));
}

const std::string& Symbols::label(SiteIndex site) {
  const auto [found, is_new] = labels_.try_emplace(site);
  if (!is_new) return found->second;
  if (site == kNoSite) return found->second = "the kernel";
  std::string of_program;
  std::string innermost;
  bool is_caller = false;
  for (SiteIndex at = site; at != kNoSite; at = recording_.sites[at].caller, is_caller = true) {
    const SiteTable::Node& node = recording_.sites[at];
    const Place here = place(node, is_caller);
    if (innermost.empty()) innermost = text(here, node.address);
    if (here.code != nullptr && is_c_library(here.code->path)) continue;
    if (!here.symbol.file.empty()) return found->second = text(here, node.address);
    if (of_program.empty()) of_program = text(here, node.address);
  }
  found->second = of_program.empty() ? std::move(innermost) : std::move(of_program);
  return found->second;
}

const SiteFrame& Symbols::frame(SiteIndex site, Is is) {
  const auto [found, is_new] = frames_.try_emplace({site, is});
  if (!is_new) return found->second;
  const SiteTable::Node& node = recording_.sites[site];
  Place here = place(node, is == Is::call);
  SiteFrame& frame = found->second;
  frame.function = here.symbol.function.empty() ? text(here, node.address) : here.symbol.function;
  frame.file = std::move(here.symbol.file);
  frame.line = here.symbol.line;
  if (here.code != nullptr) frame.object = here.code->path;
  return frame;
}

}  // namespace faultline::record

#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "arch/arch.h"
#include "machine/vm/kernel_image.h"

namespace faultline::machine::vm {

/// "arm64/6.12": an architecture (x86-64 unless it says another) and a series, a version, or a name given by `add`.
struct KernelName {
  arch::Arch arch = arch::Arch::x86_64;
  std::string name;

  static KernelName parse(std::string_view text);
  /// "6.12", "arm64/6.12".
  std::string text() const;
};

struct StoredKernel {
  KernelName name;      // "6.12.117", or what `add` was told
  std::string version;  // "6.12.117"; empty where the image does not tell
  std::string origin;   // the package, or the file that it was added from
  std::filesystem::path image;
};

/// The kernels in the cache folder.
class KernelStore {
 public:
  /// The error says why there is no cache folder.
  static std::expected<KernelStore, std::string> open();

  /// All of them: by architecture, the older versions first.
  std::vector<StoredKernel> list() const;

  /// The kernel of that name; else the newest whose version is the one named or belongs to the series named ("6.12"
  /// is 6.12.117). The error says how to get it.
  std::expected<StoredKernel, std::string> find(const KernelName& name) const;

  /// Keeps an image; one of the same name is replaced.
  std::expected<StoredKernel, std::string> add(const KernelName& name, const KernelImage& image,
                                               std::string_view origin) const;

  /// Forgets the kernel.
  std::expected<void, std::string> remove(const StoredKernel& kernel) const;

 private:
  explicit KernelStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

/// Is `version` the one named, or of the series named?
bool is_of_series(std::string_view version, std::string_view series);

}  // namespace faultline::machine::vm

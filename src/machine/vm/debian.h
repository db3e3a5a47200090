#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "machine/vm/kernel_store.h"

namespace faultline::machine::vm {

/// Hears what is going on: "reading the package lists of trixie", "linux-image-… 45%".
using Progressing = std::function<void(std::string_view)>;

/// Gets Debian's newest cloud kernel of that series (or exactly that version) through apt, with a state of its own in
/// the cache folder: no root, nothing of this machine's packages changes, apt checks signatures and sums and continues
/// what was broken off. `mirror` is a Debian archive; empty for the one that this machine's apt uses. A kernel that is
/// here already is not downloaded again.
std::expected<StoredKernel, std::string> fetch_debian_kernel(const KernelStore& store, const KernelName& name,
                                                             std::string_view mirror, const Progressing& progress);

}  // namespace faultline::machine::vm

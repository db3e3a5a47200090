#pragma once

#include "mm/mm.h"

namespace faultline::mm {

/// Moves the entries of `source` to the addresses from `target` on, guard markers included (move_page_tables). Both lie
/// in VMAs; the destination is empty. The old range is flushed, a table's worth at a time.
/// What becomes of the entries' protection by a userfaultfd.
enum class UffdWp : std::uint8_t { stays, goes };
void move_pages(Mm& mm, Range source, Addr target, UffdWp protection);

}  // namespace faultline::mm

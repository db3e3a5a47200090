#pragma once

#include "mm/mm.h"

namespace faultline::mm {

/// Moves the entries of `source` to the addresses from `target` on, guard markers included (move_page_tables). Both lie
/// in VMAs; the destination is empty. The old range is flushed, a table's worth at a time.
void move_pages(Mm& mm, Range source, Addr target);

}  // namespace faultline::mm

#pragma once

/// Orders over QEMU's monitor for people, which has no thread of its own as the other (QMP) has. What goes wrong shows
/// in that QEMU ends, or does not answer.
namespace faultline::machine::vm {

/// To restore the state from this descriptor of QEMU's. May be given before QEMU runs.
void order_restore(int monitor, int descriptor);
/// Waits until it is restored, and has the guest continue that had stopped itself.
void continue_restored(int monitor);

}  // namespace faultline::machine::vm

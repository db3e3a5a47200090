#pragma once

namespace faultline::agent {

/// Moves a file descriptor to a high number, so that the descriptors that a program opens begin where they would in any
/// process. -1 stays -1.
int out_of_the_way(int descriptor);

}  // namespace faultline::agent

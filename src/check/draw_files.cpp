#include "check/drawer.h"
#include "program/ioctl.h"

namespace faultline::check {

using program::Sys;
using run::StepKind;

void Drawer::make_file() {
  call(Sys::memfd_create, {{0, "\"m\""}, named(random_.pick(memfd_flags()))});
  call(Sys::ftruncate, {{kFirstFile}, {file_size()}});
  with(range(), Sys::mmap,
       {named(random_.pick(protections())),
        named(random_.pick(file_flags())),
        {kFirstFile},
        {random_.below(4) * kPageSize}});
}

void Drawer::file_call(std::size_t most) {
  switch (random_.below(12)) {
    case 0:
    case 1:
    case 2:
      return call(Sys::ftruncate, {{descriptor()}, {random_.one_in(30) ? ~std::uint64_t{0} : file_size()}});
    case 3:
    case 4:
      return transfer(executes_ ? Sys::write : Sys::read);
    case 5:
    case 6:
      return transfer(Sys::write);
    case 7:
      return call(
          Sys::lseek,
          {{descriptor()}, {random_.one_in(12) ? ~std::uint64_t{0} - kPageSize : file_size()}, {random_.below(3)}});
    case 8:
      return seal_file(most);
    case 9:
      if (random_.one_in(4)) return call(Sys::close, {{descriptor()}});
      return call(Sys::memfd_create, {{0, "\"m\""}, named(random_.pick(memfd_flags()))});
    default:
      return map();
  }
}

void Drawer::seal_file(std::size_t most) {
  const auto seal = [&] {
    call(Sys::fcntl, {{descriptor()}, {1033, "F_ADD_SEALS"}, named(random_.pick(file_seals()))});
  };
  if (most - drawn_.operations.size() < 3 || random_.one_in(2)) return seal();
  const bool before = random_.one_in(2);
  if (!before) seal();
  with(range(), Sys::mmap, {named(protections()[before ? 3 : 1]), named(file_flags()[0]), {kFirstFile}, {0}});
  if (before) seal();
  if (random_.one_in(2)) return call(Sys::mprotect, {last_[0], last_[1], named(protections()[3])});
  call(Sys::madvise, {last_[0], last_[1], {9, "MADV_REMOVE"}});
}

void Drawer::transfer(Sys sys) {
  const std::uint64_t start = at(page()).value + (random_.one_in(2) ? kPageSize - 50 : 0);
  const std::uint64_t length = random_.one_in(8) ? 2 * kPageSize : 1 + random_.below(100);
  call(sys, {{descriptor()}, {start}, {length}});
}

void Drawer::make_watcher() {
  for (const Named& flags : userfaultfd_flags().first(2)) call(Sys::userfaultfd, {named(flags)});
  enable(named(random_.pick(userfaultfd_features())));
  enable(named(userfaultfd_features()[0]));
  watch(named(random_.pick(register_modes().first(4))));
}

void Drawer::watch(Argument mode) {
  registered_ = range();
  if (random_.one_in(4)) registered_ = {at(0), {pages_ / 2 * kPageSize}};
  request("UFFDIO_REGISTER", {registered_[0], registered_[1], mode});
}

std::vector<Argument> Drawer::watched_range() {
  // Most requests are about what is watched.
  if (random_.one_in(3)) return range();
  last_ = registered_;
  if (random_.one_in(2)) last_[1] = {kPageSize};
  return last_;
}

void Drawer::request(std::string_view name, std::vector<Argument> fields) {
  fields.insert(fields.begin(), {{descriptor()}, {program::ioctl_named(name)->number, name}});
  call(Sys::ioctl, fields);
}

void Drawer::watcher_range(std::string_view name, std::initializer_list<Argument> more) {
  std::vector<Argument> fields = watched_range();
  fields.insert(fields.end(), more);
  request(name, std::move(fields));
}

void Drawer::watcher_call() {
  switch (random_.below(13)) {
    case 0:
    case 1:
    case 2:
      return watch(named(random_.pick(register_modes())));
    case 3:
      return watcher_range("UFFDIO_UNREGISTER", {});
    case 4:
    case 5:
    case 6:
    case 7:
      return watcher_range("UFFDIO_WRITEPROTECT", {named(random_.pick(protect_modes()))});
    case 8:
    case 9: {
      const std::vector<Argument> to = watched_range();
      const std::uint64_t from = at(page()).value + (random_.one_in(4) ? 8 : 0);
      return request("UFFDIO_COPY", {to[0], {from}, to[1], named(random_.pick(fill_modes()))});
    }
    case 10:
    case 11:
      return watcher_range("UFFDIO_ZEROPAGE", {named(random_.pick(fill_modes()))});
    default:
      if (random_.one_in(3)) return watcher_range("UFFDIO_WAKE", {});
      if (random_.one_in(3)) return call(Sys::userfaultfd, {named(random_.pick(userfaultfd_flags()))});
      if (random_.one_in(2)) return enable(named(random_.pick(userfaultfd_features())));
      return call(Sys::close, {{descriptor()}});
  }
}

}  // namespace faultline::check

#include "made_recording.h"

#include "record/writer.h"

namespace faultline::record {

MadeRecording::MadeRecording() {
  put(static_cast<std::uint64_t>(Kind::process));
  put(1);
  put(static_cast<std::uint64_t>(Kind::start));
  put(static_cast<std::uint64_t>(Machine::x86_64));
  put("/made");
}

void MadeRecording::put(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7U) records_.push_back(static_cast<char>(number | 0x80U));
  records_.push_back(static_cast<char>(number));
}

void MadeRecording::put(std::string_view text) {
  put(text.size());
  records_ += text;
}

std::uint64_t MadeRecording::file(std::string_view path, std::uint64_t bytes) {
  put(static_cast<std::uint64_t>(Kind::file));
  put(++files_);
  put(bytes);
  put(path);
  return files_;
}

std::uint64_t MadeRecording::site(std::uint64_t address, std::uint64_t caller) {
  put(static_cast<std::uint64_t>(Kind::site));
  put(++sites_);
  put(caller);
  put(address);
  return sites_;
}

void MadeRecording::mapped(std::uint64_t address, std::uint64_t bytes, std::uint64_t protection, std::uint64_t flags,
                           std::uint64_t file, std::uint64_t offset) {
  put(static_cast<std::uint64_t>(Kind::mapped));
  for (const std::uint64_t field : {address, bytes, protection, flags, file, offset}) put(field);
}

void MadeRecording::touch(Touch touch, std::uint64_t address, std::uint64_t site, std::uint64_t pages) {
  for (std::uint64_t page = 0; page < pages; ++page) {
    put(static_cast<std::uint64_t>(Kind::access));
    put(0);  // thread
    put(static_cast<std::uint64_t>(touch));
    for (const std::uint64_t field : {address + page * kPageBytes, std::uint64_t{1}, site}) put(field);
  }
}

void MadeRecording::call(Call call, std::uint64_t site, const std::vector<std::uint64_t>& arguments,
                         std::uint64_t result, std::uint64_t file) {
  put(static_cast<std::uint64_t>(Kind::call));
  put(0);  // thread
  put(static_cast<std::uint64_t>(call));
  put(site);
  put(arguments.size());
  for (const std::uint64_t argument : arguments) put(argument);
  put(result);
  put(file);
}

void MadeRecording::mmap(std::uint64_t site, std::uint64_t address, std::uint64_t bytes, std::uint64_t protection,
                         std::uint64_t more_flags) {
  call(Call::mmap, site,
       {address, bytes, protection, kPrivate | kAnonymous | kFixed | more_flags, ~std::uint64_t{0}, 0}, address);
}

std::string MadeRecording::bytes() const {
  return recording_header() + recording_frame(records_) + recording_frame({});
}

}  // namespace faultline::record

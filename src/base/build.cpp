#include "base/build.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <filesystem>

#include "base/commit_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/processor.h"

#define AGORA_COMMIT_SECTION ".agora_commit"

// Of a fixed size and in a section of its own, so that another commit changes nothing else. Not
// const: its length would be compiled into the code.
extern "C" {
extern char agora_commit_text[64];
__attribute__((section(AGORA_COMMIT_SECTION), used)) char agora_commit_text[64] = AGORA_COMMIT;
}

namespace agora {
namespace {

template <typename T>
T at(std::string_view elf, size_t offset, const std::string& name) {
  CHECK(offset <= elf.size() && sizeof(T) <= elf.size() - offset, "{} is cut short", name);
  T value;
  std::memcpy(&value, elf.data() + offset, sizeof(T));
  return value;
}

std::string_view piece(std::string_view elf, const Elf64_Shdr& section, const std::string& name) {
  CHECK(section.sh_offset <= elf.size() && section.sh_size <= elf.size() - section.sh_offset,
        "{} is cut short", name);
  return elf.substr(section.sh_offset, section.sh_size);
}

// The library that this function is in; the program itself if it is linked statically.
std::filesystem::path own_library() {
  Dl_info info{};
  CHECK(dladdr(reinterpret_cast<const void*>(&own_library), &info) != 0 && info.dli_fname,
        "the program does not find itself");
  return info.dli_fname;
}

}  // namespace

std::string_view build_commit() { return agora_commit_text; }

std::string build_id_of(std::string_view elf, const std::string& name) {
  const auto header = at<Elf64_Ehdr>(elf, 0, name);
  CHECK(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0, "{} is no ELF file", name);
  const auto section = [&](size_t index) {
    return at<Elf64_Shdr>(elf, header.e_shoff + index * header.e_shentsize, name);
  };
  const std::string_view names = piece(elf, section(header.e_shstrndx), name);
  Hash hash;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr each = section(i);
    // Notes hold the linker's own hash, which covers the commit.
    if (!(each.sh_flags & SHF_ALLOC) || each.sh_type == SHT_NOBITS || each.sh_type == SHT_NOTE) {
      continue;
    }
    const std::string_view title(names.substr(each.sh_name).data());
    if (title == AGORA_COMMIT_SECTION) continue;
    hash.part(title).part(piece(elf, each, name));
  }
  return hash.hex();
}

const std::string& build_id() {
  static const std::string id = [] {
    const std::filesystem::path program = "/proc/self/exe", library = own_library();
    Hash both;
    both.part(vector_set_name(vector_set()));
    both.part(build_id_of(read_file(program), program));
    std::error_code ignored;
    if (!std::filesystem::equivalent(program, library, ignored)) {
      both.part(build_id_of(read_file(library), library));
    }
    return both.hex();
  }();
  return id;
}

}  // namespace agora

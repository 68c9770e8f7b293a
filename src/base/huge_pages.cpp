#include "base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1
#endif

namespace agora {
namespace {

constexpr uintptr_t kHugePage = uintptr_t{1} << 21;

// Errors are left alone: an older system has ordinary pages.
void advise(const void* data, size_t bytes, int advice) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (first + kHugePage - 1) & ~(kHugePage - 1);
  const uintptr_t end = (first + bytes) & ~(kHugePage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

void wish_huge_pages(const void* data, size_t bytes) { advise(data, bytes, MADV_HUGEPAGE); }

void move_to_huge_pages(const void* data, size_t bytes) {
  advise(data, bytes, MADV_HUGEPAGE);
  advise(data, bytes, MADV_COLLAPSE);
}

}  // namespace agora

#pragma once
#include <cstddef>
#include <vector>

namespace agora {

// Asks the system for pages of 2 MiB where `data` lies: random reads then miss the page tables
// less. A wish: nothing but speed depends on it.
void wish_huge_pages(const void* data, size_t bytes);

// The same for memory in use: moves it into such pages now.
void move_to_huge_pages(const void* data, size_t bytes);

template <typename T>
void reserve_in_huge_pages(std::vector<T>& values, size_t count) {
  values.reserve(count);
  wish_huge_pages(values.data(), count * sizeof(T));
}

template <typename T>
void move_to_huge_pages(const std::vector<T>& values) {
  move_to_huge_pages(values.data(), values.size() * sizeof(T));
}

}  // namespace agora

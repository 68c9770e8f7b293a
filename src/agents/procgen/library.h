#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

// Procgen as its authors built it: `libenv.so` and the folder `assets` of the wheel procgen 0.10.7,
// which scripts/get-procgen brings. It is loaded when the first game is made.
namespace agora::agents::procgen {

// The library's own interface.
struct Option {
  static constexpr int kByte = 1, kInt = 2;

  char name[128];
  int type;
  int count;
  void* data;
};
struct Options {
  Option* items;
  int count;
};
struct Buffers {
  void** observations;
  float* rewards;
  uint8_t* firsts;  // whether an episode begins
  void** infos;  // of all games the level before, of all whether it was completed, of all the level
  void** actions;
};
struct Library {
  void* (*make)(int count, Options options);
  void (*set_buffers)(void* games, Buffers* buffers);
  void (*observe)(void* games);
  void (*act)(void* games);
  void (*close)(void* games);
  int (*get_state)(void* games, int game, char* bytes, int length);
  void (*set_state)(void* games, int game, char* bytes, int length);
  std::string assets;  // the folder, with a slash at its end
};

// Where it is: what AGORA_PROCGEN names, else the build's own, else where programs and users keep
// such things; empty if nowhere.
std::filesystem::path find_folder();
// Why it cannot be had, and the command that brings it; "" if it is there.
std::string missing();

// Loads it once. A file that is not as it was published is a UserError: it would end the program.
const Library& library();

}  // namespace agora::agents::procgen

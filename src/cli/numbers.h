#pragma once
#include <CLI/CLI.hpp>

namespace agora::cli {

// Makes an option of whole or real numbers refuse what is none of them or out of range; the parser
// alone takes the nearest number that it can hold, and 010 for eight.
void expect_numbers(CLI::Option& option);

}  // namespace agora::cli

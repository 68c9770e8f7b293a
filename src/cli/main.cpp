#include "cli/program.h"

int main(int argc, char** argv) { return agora::cli::run_program({argv + 1, argv + argc}); }

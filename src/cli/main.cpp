#include "base/features.h"
#include "base/processor.h"
#include "cli/program.h"

#if AGORA_HAS_PROCESSOR_CHECK
// Earlier than the initialisers of all libraries, which may call inline functions of this program.
__attribute__((section(".preinit_array"),
               used)) static void (*const before_all)() = agora::check_processor;
#endif

int main(int argc, char** argv) { return agora::cli::run_program({argv + 1, argv + argc}); }

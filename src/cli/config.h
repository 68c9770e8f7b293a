#pragma once
#include <string>
#include <vector>

#include "cli/program.h"

namespace agora::cli {

// `words` with the options of the TOML file added that the words themselves do not give.
// An unknown key, or a file made for another verb, is the user's mistake.
std::vector<std::string> with_config(const Verb& verb, const std::string& file,
                                     const std::vector<std::string>& words);

// Every option of a parsed verb by name, as given or by default; a run's config.toml.
Json resolved_settings(const Verb& verb, const OptionList& app);

// The words after the verb that give these settings again.
std::vector<std::string> words_of(const Verb& verb, const Json& settings);

}  // namespace agora::cli

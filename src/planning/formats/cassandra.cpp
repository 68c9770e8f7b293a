#include "planning/formats/cassandra_parser.h"
#include "planning/formats/format.h"

namespace agora::planning::kind_cassandra {

Format entry_cassandra() {
  return {.name = "cassandra",
          .extensions = {".mdp", ".pomdp"},
          .summary = "Cassandra's text format; of a POMDP the fully observed part",
          .read = [](const std::filesystem::path& file,
                     const LoadOptions&) { return CassandraParser(file).parse(); },
          .write = {}};
}

}  // namespace agora::planning::kind_cassandra

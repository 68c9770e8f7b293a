# agora_registry(OUT FOLDER NAMESPACE TYPE HEADER ACCESSOR), one line per registry of the library.

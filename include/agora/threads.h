#pragma once

namespace agora {

// How many threads all work shares; all cores unless told, and for 0. Results are the same bits for
// any number. Not to be called while work is under way.
void set_threads(int threads);
int threads();

}  // namespace agora

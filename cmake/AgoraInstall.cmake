# Filled below by install rules.

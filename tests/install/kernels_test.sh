#!/usr/bin/env bash
# kernels_test.sh NAMESPACE OBJECT...: everything that the objects offer to others is in NAMESPACE.
# A function that other code shares, an inline one of a header, could be linked in from here and
# then run on processors that cannot.
set -euo pipefail
namespace=$1
shift
symbols=$(nm -C --defined-only --extern-only "$@" | sed -nE 's/^[0-9a-f]+ [A-Za-z] //p')
grep -q "::$namespace::" <<<"$symbols" || { echo "no kernels in $*"; exit 1; }
if grep -v "::$namespace::" <<<"$symbols"; then
  echo "these symbols are not of $namespace alone"
  exit 1
fi

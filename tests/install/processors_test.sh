#!/usr/bin/env bash
# processors_test.sh PROGRAM NATIVE: what the program does on processors that are not this one.
set -euo pipefail
program=$1 native=$2
emulator=$(command -v qemu-x86_64 qemu-x86_64-static | head -n 1) || { echo "no qemu-user: skipped"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# on PROCESSOR WORD...: status, output and what is said, without the emulator's own words.
on() {
  local processor=$1
  shift
  status=0
  "$emulator" -cpu "$processor" "$program" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  sed -i '/^qemu/d' "$scratch/err"
}
fail() { echo "$*, status $status"; cat "$scratch/out" "$scratch/err"; exit 1; }

on Nehalem version
[[ $status == 2 && ! -s $scratch/out && $(wc -l <"$scratch/err") == 1 ]] || fail "no line on a Nehalem"
grep -q '^agora: this processor has no AVX2' "$scratch/err" || fail "another line on a Nehalem"
on SandyBridge plan list
[[ $status == 2 ]] || fail "AVX alone is taken for AVX2"

if [[ $native == ON ]]; then
  echo "a native build runs here alone"
  exit 0
fi
for processor in Haswell EPYC; do
  on $processor version
  [[ $status == 0 ]] && grep -q 'avx2 kernels' "$scratch/out" || fail "no version on a $processor"
  on $processor plan solve 'maze(rows=5,cols=5,seed=3)' --beta 2 --json
  [[ $status == 0 ]] || fail "no plan on a $processor"
done
on Haswell auction train regretnet --setting 1x2 --iterations 2 --batch 16 --regret-profiles 0 \
  --profiles 100 --out "$scratch/mechanism.json" --json
[[ $status == 0 ]] || fail "no training on a Haswell"
export AGORA_KERNELS=avx512
on EPYC version
[[ $status == 2 ]] && grep -q 'this processor has no AVX-512' "$scratch/err" || fail "AVX-512 on an EPYC"

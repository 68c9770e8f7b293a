#!/usr/bin/env bash
# man_page.sh PROGRAM: the manual page agora(1), in roff, made of what PROGRAM says of itself.
set -euo pipefail
program=$1
version=$("$program" version | awk 'NR == 1 {print $2}')

# Text as it is: roff's own characters and the dots that begin a line mean nothing.
plain() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/"; }
preformatted() { echo .nf; plain; echo .fi; }

overview=$("$program" help)
mapfile -t verbs < <(sed -nE 's/^  ([a-z]+( [a-z]+)?)  +[A-Z].*/\1/p' <<<"$overview")
((${#verbs[@]} > 5)) || { echo "man_page.sh: no verbs in the help of $program" >&2; exit 1; }

cat <<PAGE
.TH AGORA 1 "" "agora $version" "User Commands"
.SH NAME
agora \\- learns how agents should act and how markets should be run
.SH SYNOPSIS
.B agora
.I VERB
[\\fIOPTIONS\\fR]
.SH DESCRIPTION
$(tail -n +3 <<<"$overview" | preformatted)
PAGE
echo .SH VERBS
for verb in "${verbs[@]}"; do
  printf '.SS agora %s\n' "$verb"
  # shellcheck disable=SC2086
  "$program" $verb --help | preformatted
done
cat <<'PAGE'
.SH EXIT STATUS
0 done; 1 a fault of the program, or an experiment that failed; 2 a mistake of the user; 3 a rule
missed with \-\-strict; 130 or 143 interrupted.
.SH ENVIRONMENT
.TP
.B AGORA_KERNELS
avx2, avx512 or best: the vectors that networks are computed with. The default takes AVX\-512 where
the processor has it; with avx2 the same inputs give the same bits on every machine.
.TP
.B AGORA_PLOTLY
A file of plotly.js for interactive reports; empty: none.
.SH FILES
Documentation and examples are in /usr/share/doc/agora.
PAGE

# Prints "FILE GROUP" for each source file given: the files of a group can be compiled as one, because
# no name that one of them keeps to itself (in a namespace without a name, static, or a macro) is used
# by another. A group has files of one room, and no more than `lines` lines unless it is one file.
# An entry of a registry has a namespace of its own, so its names are nobody else's.
FNR == 1 {
  count++
  name[count] = FILENAME
  room[count] = FILENAME
  sub(/.*\/(src|tests)\//, "", room[count])
  sub(/\/.*/, "", room[count])
  hidden = entry = 0
}
{ long[count]++ }
/^namespace .*::kind_/ { entry = 1 }
/^namespace \{/ { hidden = 1; next }
/^\}  \/\/ namespace$/ { hidden = 0; next }

/^#define / { word = $2; sub(/\(.*/, "", word); own[count, word] = "any" }
# A declaration begins in the first column.
(hidden || /^static /) && !entry && /^[A-Za-z]/ && !/^(template|public:|private:|[A-Z_]+\()/ {
  if (match($0, /^using [A-Za-z_0-9:]+::[A-Za-z_0-9]+;/)) {
    word = substr($0, RSTART, RLENGTH - 1)
    sub(/.*::/, "", word)
    if (!/^using std::/) own[count, word] = "any"
    origin[count, word] = $0
  } else if (match($0, /^(struct|class|enum class|enum|using) [A-Za-z_0-9]+/)) {
    word = substr($0, RSTART, RLENGTH)
    sub(/.* /, "", word)
    own[count, word] = "any"
  } else if (match($0, /[A-Za-z_][A-Za-z_0-9]*\(/) && !/=.*\(/) {
    own[count, substr($0, RSTART, RLENGTH - 1)] = "call"
  } else {
    rest = $0
    gsub(/= ?[^,;]*/, "=", rest)  # what they begin with
    gsub(/\{[^}]*\}/, "{", rest)
    while (match(rest, /k[A-Z][A-Za-z0-9]*|[a-z_]+ ?[={;]/)) {
      word = substr(rest, RSTART, RLENGTH)
      gsub(/[ ={;]/, "", word)
      own[count, word] = "any"
      rest = substr(rest, RSTART + RLENGTH)
    }
  }
}
{
  rest = $0
  sub(/\/\/.*/, "", rest)
  gsub(/(\.|->|::)[A-Za-z_][A-Za-z_0-9]*/, " ", rest)  # members and other namespaces' names
  while (match(rest, /[A-Za-z_][A-Za-z_0-9]*\(?/)) {
    word = substr(rest, RSTART, RLENGTH)
    if (sub(/\($/, "", word)) uses[count, word] = uses[count, word] "call"
    uses[count, word] = uses[count, word] "any"
    rest = substr(rest, RSTART + RLENGTH)
  }
}

function clash(a, b,   key, part, other) {
  for (key in own) {
    split(key, part, SUBSEP)
    other = part[1] == a ? b : part[1] == b ? a : 0
    if (!other || (origin[key] && origin[other, part[2]] == origin[key])) continue  # the same name
    if (index(uses[other, part[2]], own[key])) return 1
  }
  return 0
}
END {
  for (i = 1; i <= count; i++) {
    for (g = 1; g <= groups; g++) {
      if (at[g] != room[i] || total[g] + long[i] > lines) continue
      n = split(members[g], member, " ")
      fits = 1
      for (k = 1; fits && k <= n; k++) fits = !clash(i, member[k])
      if (fits) break
    }
    if (g > groups) { groups = g; at[g] = room[i] }
    members[g] = members[g] " " i
    total[g] += long[i]
    print name[i], g
  }
}

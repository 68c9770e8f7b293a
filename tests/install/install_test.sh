#!/usr/bin/env bash
# install_test.sh BUILD SOURCE: installs the build into a scratch prefix and builds a small program
# against it through find_package and through pkg-config; then packs a .deb and installs that.
set -euo pipefail
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(cat "$source/VERSION")

cmake --install "$build" --prefix "$scratch/prefix" >"$scratch/install.log"
config=$(find "$scratch/prefix" -name agoraConfig.cmake)
libdir=${config%/cmake/agora/agoraConfig.cmake}
[[ $("$scratch/prefix/bin/agora" version) == "agora $version "* ]]

# The script that brings Procgen is there, and a program without the games names it.
getter=$scratch/prefix/share/agora/get-procgen
[[ -x $getter ]]
said=$("$getter" -x 2>&1 || true)
[[ $said == "usage: $getter "* ]] || { echo "$getter: $said"; exit 1; }
if said=$(AGORA_PROCGEN="$scratch/none" "$scratch/prefix/bin/agora" agent eval random --env procgen/maze 2>&1); then
  echo "there are games in $scratch/none"; exit 1
fi
[[ $said == *"\`$getter FOLDER\` brings them"* ]] || { echo "$said"; exit 1; }

cmake -S "$source/tests/install/consumer" -B "$scratch/consumer" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" >"$scratch/consumer.log"
cmake --build "$scratch/consumer" >>"$scratch/consumer.log" || { cat "$scratch/consumer.log"; exit 1; }
"$scratch/consumer/consumer" | grep -Fx "$version"
echo "find_package works"

# The README's project with each of its programs, as printed.
mkdir "$scratch/readme"
# fence LANGUAGE NUMBER: the README's block of that number in that language.
fence() { awk -v open="\`\`\`$1" -v wanted="$2" '$0 == open {on = ++found == wanted; next} /^```/ {on = 0} on' "$source/README.md"; }
fence cmake 1 >"$scratch/readme/CMakeLists.txt"
program() {
  fence cpp "$1" >"$scratch/readme/main.cpp"
  cmake -S "$scratch/readme" -B "$scratch/readme/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
    >"$scratch/readme.log"
  cmake --build "$scratch/readme/build" >>"$scratch/readme.log" || { cat "$scratch/readme.log"; exit 1; }
  (cd "$scratch/readme" && build/my_program) >"$scratch/readme.out"
}
# says PATTERN: the program printed such a line.
says() { grep -Eq "$1" "$scratch/readme.out" || { echo "no line $1 in"; cat "$scratch/readme.out"; exit 1; }; }
[[ $(grep -c '^```cpp$' "$source/README.md") == 3 ]]
program 1
# 55 steps; 5/6 in expectation (10,000 profiles: .0036); .7, the second bid, and .5, the reserve.
says '^value -55\.'
says '^revenue 0\.8[234][0-9]*, regret 0, payments 0\.7 and 0\.5$'
program 2
says '^100 of 200$'
says '^200 of 200$'
says '^revenue [01]\.[0-9]*$'
[[ -s $scratch/readme/training.safetensors ]]
program 3
says '^return [0-9.]+ on training levels, [0-9.]+ on unseen ones \[[0-9.]+, [0-9.]+\]$'
[[ -s $scratch/readme/agent.safetensors ]]
echo "the README's programs work"

export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046
g++ -std=c++20 "$source/tests/install/consumer/main.cpp" $(pkg-config --cflags --libs agora) \
  -Wl,-rpath,"$libdir" -o "$scratch/by_pkg_config"
"$scratch/by_pkg_config" | grep -Fx "$version"
echo "pkg-config works"

if grep -rnE '#include *[<"](Eigen|fmt|nlohmann|CLI|toml|cuda)' "$scratch/prefix/include"; then
  echo "an installed header includes what users need not have"
  exit 1
fi

command -v dpkg-deb >/dev/null || { echo "no dpkg: the .deb is not checked"; exit 0; }
(cd "$build" && cpack -B "$scratch/deb" >"$scratch/cpack.log" 2>&1) || { cat "$scratch/cpack.log"; exit 1; }
package=$(ls "$scratch"/deb/*.deb)
dpkg -c "$package" >"$scratch/contents"
for wanted in ./usr/bin/agora /libagora.so /agora/agora.h /agoraConfig.cmake /agora.pc /completions/agora \
  /man1/agora.1.gz /share/agora/get-procgen /doc/agora/README.md /doc/agora/docs/planning.md /doc/agora/examples/rooms.map; do
  grep -q "$wanted" "$scratch/contents" || { echo "$wanted is not in the package"; exit 1; }
done
mkdir -p "$scratch/root/var/lib/dpkg/updates" "$scratch/root/var/lib/dpkg/info"
touch "$scratch/root/var/lib/dpkg/status"
if ((EUID == 0)); then
  dpkg --root="$scratch/root" --force-depends --force-script-chrootless -i "$package" >"$scratch/dpkg.log" 2>&1 || { cat "$scratch/dpkg.log"; exit 1; }
else
  dpkg -x "$package" "$scratch/root"
fi
[[ $("$scratch/root/usr/bin/agora" version) == "agora $version "* ]]
# The manual has every verb, and roff no complaint.
zcat "$scratch/root/usr/share/man/man1/agora.1.gz" >"$scratch/agora.1"
while read -r verb; do
  grep -qx ".SS agora $verb" "$scratch/agora.1" || { echo "the manual lacks $verb"; exit 1; }
done < <("$build/agora" completion bash | sed -nE "s/^    '([a-z ]+)'\) words=.*/\1/p")
if command -v groff >/dev/null; then
  groff -man -Tutf8 -ww "$scratch/agora.1" 2>&1 >/dev/null | tee "$scratch/groff.log"
  [[ ! -s $scratch/groff.log ]]
fi
echo "the .deb works"

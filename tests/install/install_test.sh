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

cmake -S "$source/tests/install/consumer" -B "$scratch/consumer" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" >"$scratch/consumer.log"
cmake --build "$scratch/consumer" >>"$scratch/consumer.log" || { cat "$scratch/consumer.log"; exit 1; }
"$scratch/consumer/consumer" | grep -Fx "$version"
echo "find_package works"

# The README's project, as printed.
mkdir "$scratch/readme"
fence() { awk -v open="\`\`\`$1" '$0 == open {on = 1; next} /^```/ {on = 0} on' "$source/README.md"; }
fence cmake >"$scratch/readme/CMakeLists.txt"
fence cpp >"$scratch/readme/main.cpp"
cmake -S "$scratch/readme" -B "$scratch/readme/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  >"$scratch/readme.log"
cmake --build "$scratch/readme/build" >>"$scratch/readme.log" || { cat "$scratch/readme.log"; exit 1; }
"$scratch/readme/build/my_program" >"$scratch/readme.out"
# 55 steps; 5/6 in expectation (10,000 profiles: .0036); .7, the second bid, and .5, the reserve.
grep -Eq '^value -55\.' "$scratch/readme.out"
grep -Eq '^revenue 0\.8[234][0-9]*, regret 0, payments 0\.7 and 0\.5$' "$scratch/readme.out" ||
  { cat "$scratch/readme.out"; exit 1; }
echo "the README's program works"

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
for wanted in ./usr/bin/agora /libagora.so /agora/agora.h /agoraConfig.cmake /agora.pc /completions/agora; do
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
echo "the .deb works"

#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Usage: check-abi.sh OUT [REAL]
# Every symbol version of ours must be one of the real libibverbs (rdma-core 44) and the other way round; the two old builds
# must lack exactly what is newer. Skips the comparison where the real library is missing or of another release.
set -eu
out=$1 real=$(readlink -f "${2:-/usr/lib/$(uname -m)-linux-gnu/libibverbs.so.1}")

versions() {
	readelf -W --dyn-syms "$1" | awk '$5 == "GLOBAL" && $7 != "UND" && $7 != "ABS" && $8 ~ /@/ { print $8 }' | LC_ALL=C sort -u
}
fail() {
	echo "check-abi: $*" >&2
	exit 1
}

readelf -d "$out/libibverbs.so.1" | grep -q 'SONAME.*\[libibverbs.so.1\]' || fail "wrong SONAME"
versions "$out/libibverbs.so.1" > "$out/ours.txt"
grep -q 'nullv_fail@@NULLV_1' "$out/ours.txt" || fail "nullv_fail@@NULLV_1 is missing"
grep '@@EFA_1' "$out/ours.txt" > "$out/ours-efa.txt" || fail "there is no libefa"
grep -v -e '@@NULLV_1$' -e '@@EFA_1' "$out/ours.txt" > "$out/ours-verbs.txt"

if [ ! -e "$real" ]; then
	echo "check-abi: SKIP the comparison: there is no $real (install libibverbs-dev)"
elif ! versions "$real" | grep -q '@@IBVERBS_PRIVATE_34$' || versions "$real" | grep -q '@@IBVERBS_1.15$'; then
	echo "check-abi: SKIP the comparison: $real is not of rdma-core 44"
else
	versions "$real" > "$out/real.txt"
	diff "$out/real.txt" "$out/ours-verbs.txt" || fail "the symbols differ from $real (< real, > ours)"
	echo "check-abi: $(wc -l < "$out/ours-verbs.txt") symbol versions equal those of $real"
	# Of libefa's, those that release 44 has. The rest is newer than anything here to compare with.
	efa=$(readlink -f "$(dirname "$real")/libefa.so.1")
	if [ -e "$efa" ]; then
		grep '@@EFA_1\.[0-2]$' "$out/ours-efa.txt" > "$out/want.txt"
		versions "$efa" | comm -23 "$out/want.txt" - | grep . && fail "not in $efa"
		echo "check-abi: $(wc -l < "$out/want.txt") symbol versions are those of $efa"
	fi
fi

# Each old build: the full list without the nodes that are newer, and without the private one, which has another name.
old() {
	grep -v PRIVATE "$out/ours-verbs.txt" | grep -Ev "$2" > "$out/want.txt"
	versions "$out/$1/libibverbs.so.1" | grep -v -e '@@NULLV_1$' -e PRIVATE | diff "$out/want.txt" - || fail "$1 has the wrong symbols"
	echo "check-abi: $1 has $(wc -l < "$out/want.txt") public symbol versions"
}
old old33 '@IBVERBS_1\.1[2-9]$'
old v14 '@IBVERBS_1\.([2-9]|1[0-9])$'

#!/usr/bin/env bash
# run.sh [SECONDS [TARGET...]]: fuzz the codecs outside the server, as TAP.
# run.sh --can: whether that is possible here.
#
# Each target of codecs.c runs for so many seconds (8), first over the published
# values and over what was found before (findings/TARGET/).  A new finding is kept
# in the current directory and printed: put it into findings/ with the fix.
#
# Needs clang with its sanitizers, and libcrypto. CLANG names another clang.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
all=(base32 typeid ulid ksuid sqids digits ff1)
clang=${CLANG:-$(compgen -c clang | grep -xE 'clang(-[0-9]+)?' | sort -V | head -n 1 || true)}
seconds=${1:-8}
targets=("${@:2}")
[ "${#targets[@]}" -gt 0 ] || targets=("${all[@]}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The first column of the published values, a file each.
seeds() {
	local column=$here/../vectors/$1.tsv
	mkdir -p "$work/$1"
	[ ! -e "$column" ] || tail -n +2 "$column" | cut -f 1 |
		awk -v to="$work/$1/" '{ printf "%s", $0 >(to NR); close(to NR) }'
}

build() {
	"$clang" -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DTARGET="fuzz_$1" \
		-Wall -Wextra -I "$here/../../src" -o "$work/fuzz_$1" "$here/codecs.c" \
		"$here"/../../src/codec_{base32,digits,ff1,ksuid,sqids,sqids_blocklist,typeid,ulid}.c -lcrypto
}

if [ "$seconds" = --can ]; then
	[ -n "$clang" ] && build digits >/dev/null 2>&1
	exit
fi
status=0
for target in "${targets[@]}"; do
	seeds "$target"
	[ ! -d "$here/findings/$target" ] || cp "$here/findings/$target"/* "$work/$target"
	if build "$target" >"$work/log" 2>&1 &&
		"$work/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=1024 \
			-artifact_prefix="fuzz_$target-" "$work/$target" >"$work/log" 2>&1; then
		echo "ok - $target: $(sed -n 's/^Done //p' "$work/log")"
	else
		echo "not ok - $target"
		sed 's/^/# /' "$work/log"
		status=1
	fi
done
exit "$status"

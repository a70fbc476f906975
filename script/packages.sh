# shellcheck shell=bash
# packages.sh, sourced: which PostgreSQL to use, and what Debian packages are missing.
#
# Guarantees: apt-get runs only when a package is missing, and after each was named
# with the reason for it.

program=script/${0##*/}

die() {
	echo "$program: $*" >&2
	exit 1
}

misuse() {
	echo "$program: $* (see $program --help)" >&2
	exit 2
}

# The header comment of a script is its help.
help() {
	sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
	exit
}

# Sets major and pg_config: the server that PG_CONFIG names, else the newest one
# here that extensions can be built for, else the one that Debian would install.
choose_postgres() {
	local candidate
	pg_config=${PG_CONFIG:-}
	if [ -z "$pg_config" ]; then
		for candidate in $(printf '%s\n' /usr/lib/postgresql/*/bin/pg_config | sort -V); do
			[ ! -e "$(headers_of "$candidate")" ] || pg_config=$candidate
		done
	fi
	if [ -n "$pg_config" ]; then
		pg_config=$("$pg_config" --bindir)/pg_config || die "PG_CONFIG=$PG_CONFIG does not run"
		major=$("$pg_config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
	else
		[ -n "$(debian_major)" ] || update
		major=$(debian_major)
		[ -n "$major" ] || die "apt knows no package postgresql"
		pg_config=/usr/lib/postgresql/$major/bin/pg_config
	fi
	[ "$pg_config" = "/usr/lib/postgresql/$major/bin/pg_config" ] ||
		die "$pg_config is not where Debian's packages have it, /usr/lib/postgresql/$major/bin"
	[ "$major" -ge 15 ] || die "idgen needs PostgreSQL 15 or later, this is $major"
}

headers_of() {
	[ -x "$1" ] && echo "$("$1" --includedir-server)/postgres.h"
}

debian_major() {
	apt-cache depends postgresql 2>/dev/null |
		sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p'
}

wanted=()  # all packages that were asked for
missing=() # those that are not here
reasons=()

# want PACKAGE REASON TEST...: the package is missing when the command TEST fails.
want() {
	wanted+=("$1")
	if ! "${@:3}" >/dev/null 2>&1; then
		missing+=("$1")
		reasons+=("$1: $2")
	fi
}

want_build() {
	want "postgresql-$major" "the server; its package also starts a server of its own, \"main\", which idgen leaves alone" \
		test -x "/usr/lib/postgresql/$major/bin/postgres"
	want "postgresql-server-dev-$major" "to build an extension (it brings clang and LLVM along, not used here)" \
		test -e "/usr/include/postgresql/$major/server/postgres.h"
	want make "to build" command -v make
	want gcc "to build" command -v gcc
	want libc6-dev "to build" test -e /usr/include/stdio.h
	want libssl-dev "AES and HMAC, for masks and the tails of ULIDs" test -e /usr/include/openssl/evp.h
}

want_tests() {
	want perl "runs the tests" command -v prove
	want libipc-run-perl "used by PostgreSQL's test modules" perl -MIPC::Run -e 1
	want libtap-parser-sourcehandler-pgtap-perl "runs the pgTAP tests" command -v pg_prove
	want "postgresql-$major-pgtap" "used by the pgTAP tests" \
		test -e "/usr/share/postgresql/$major/extension/pgtap.control"
	want faketime "moves the clock in tests" command -v faketime
	want python3 "checks the values that masks are tested with" command -v python3
	want spin "checks the protocol of node leases" command -v spin
	# The version of this release is the one that the layout is checked with.
	[ "$(codename)" != bookworm ] ||
		want clang-format "checks the layout of the C files" command -v clang-format
	# The server's headers bring clang along, without what fuzzing takes.
	[ "$(codename)" != bookworm ] ||
		want libclang-rt-14-dev "fuzzes the codecs" compgen -G '/usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*'
}

codename() {
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

install_missing() {
	[ "${#missing[@]}" -gt 0 ] || return 0
	echo "$program needs these packages and installs them with apt-get:"
	printf '  %s\n' "${reasons[@]}"
	update
	apt_get install -y --no-install-recommends "${missing[@]}"
}

# Once in a run.
update() {
	[ -z "${updated:-}" ] || return 0
	echo "$program reads the package lists"
	apt_get update
	updated=yes
}

apt_get() {
	local line=(env DEBIAN_FRONTEND=noninteractive apt-get
		-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@")
	command -v apt-get >/dev/null || die "there is no apt-get to install: ${missing[*]:-PostgreSQL}"
	if [ "$(id -u)" = 0 ]; then
		"${line[@]}"
	elif command -v sudo >/dev/null; then
		sudo "${line[@]}"
	elif [ "${#missing[@]}" -gt 0 ]; then
		die "run this as root first: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
	else
		die "run this as root first: apt-get update"
	fi
}

# shellcheck shell=bash
# sandbox.sh, sourced: a private PostgreSQL, with idgen built into it.
#
# Guarantees: everything happens in one directory, /tmp/idgen.XXXXXX (short, for
# the sockets in it), which only the user who runs the server can enter.  Neither
# the checkout nor the machine's own PostgreSQL is written to, no TCP port is
# opened, and no setting of the caller's environment gets in.  However a script
# ends, its processes end and the directory goes, unless --keep was given.
#
# It works because PostgreSQL's programs look for their files relative to where
# they are themselves: a copy of the programs, with links to all the rest beside
# it, is an installation of its own, which `make install` of idgen goes into.

# With standard input closed, the first file opened would take its place.
{ : <&0; } 2>/dev/null || exec </dev/null

. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

work=${IDGEN_WORK:-} # empty outside
major=${IDGEN_MAJOR:-}
keep=no # set by an option of the script

# sandbox WANTS ARGUMENT...: what follows a call of it in the script runs in a
# sandbox, as an ordinary user.  Outside, it installs what WANTS (functions of
# packages.sh) ask for, prepares the directory, starts the script again in there
# with these arguments, waits for it, and ends with its status.
sandbox() {
	local want checkout run_as='' status=0
	[ -z "$work" ] || return 0

	choose_postgres
	for want in $1; do "$want"; done
	shift
	install_missing

	trap remove_sandbox EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	work=$(mktemp -d /tmp/idgen.XXXXXX)
	mkdir "$work/src" "$work/tmp"
	checkout=$(dirname "$(dirname "$(readlink -f "$0")")")
	tar -C "$checkout" --exclude=./.git -cf - . | tar -C "$work/src" --no-same-owner -xf -
	if [ "$(id -u)" = 0 ]; then
		chown -R postgres: "$work"
		run_as='runuser -u postgres --'
	fi

	# In the background, so that a signal ends the wait, but with our input.
	(
		cd "$work/src" && exec $run_as env -i --default-signal=INT,QUIT \
			IDGEN_WORK="$work" IDGEN_MAJOR="$major" IDGEN_RUN_AS="$run_as" PG_CONFIG="$pg_config" \
			PGHOST="$work" PGUSER=postgres HOME="$work" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" \
			PATH="$work$(dirname "$pg_config"):/usr/local/bin:/usr/bin:/bin" \
			bash "script/${0##*/}" "$@"
	) <&0 &
	wait $! || status=$?
	[ "$keep" = no ] || trap - EXIT
	exit "$status"
}

remove_sandbox() {
	local try
	[ -n "${work:-}" ] || return 0
	trap '' HUP INT TERM
	for try in {1..100}; do
		signal_sandbox TERM QUIT || break
		sleep 0.1
	done
	[ "$try" -lt 100 ] || signal_sandbox KILL KILL || true
	rm -rf "$work"
}

# Sends a signal to every process in the sandbox, and another one to its servers;
# these hide their environment, but they run the sandbox's own program.  Fails
# when there was none.
signal_sandbox() {
	local others servers
	mapfile -t others < <(grep -lzsxF "IDGEN_WORK=$work" /proc/[0-9]*/environ | cut -d/ -f3)
	mapfile -t servers < <(find /proc/[0-9]*/exe -lname "$work/*/postgres" 2>/dev/null | cut -d/ -f3)
	[ $((${#others[@]} + ${#servers[@]})) -gt 0 ] || return 1
	kill -s "$1" "${others[@]}" 2>/dev/null || true
	kill -s "$2" "${servers[@]}" 2>/dev/null || true
	kill -s CONT "${others[@]}" "${servers[@]}" 2>/dev/null || true
}

# Makes the private installation, builds idgen and installs it there.  What the
# compiler says is shown, and stays in $work/build.log.
build() {
	local dir option
	for option in --pkglibdir --sharedir --includedir; do
		dir=$("$PG_CONFIG" "$option")
		mkdir -p "$work$(dirname "$dir")"
		cp -rs "$dir" "$work$dir"
	done
	dir=$("$PG_CONFIG" --bindir)
	cp -rL "$dir" "$work$dir"
	export PG_CONFIG=$work$dir/pg_config
	echo "Building idgen for $("$PG_CONFIG" --version)"
	make -s clean
	make -j "$(nproc)" with_llvm=no install 2>&1 | tee "$work/build.log" |
		sed -u -E '/^(gcc|cc) .* -c /s/.* ([^ ]+\.c)( .*|$)/  \1/; /^(gcc|cc|\/bin\/mkdir|\/usr\/bin\/install) /d'
}

# Starts the sandbox's server, which is where psql and the like go.  Before 17, shared memory is only to be had by preloading.
start_server() {
	local preload=
	[[ $major != 1[56] ]] || preload=idgen
	initdb -D "$work/data" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 >"$work/initdb.log"
	cat >>"$work/data/postgresql.conf" <<-EOF
		listen_addresses = ''
		unix_socket_directories = '$work'
		fsync = off
		shared_preload_libraries = '$preload'
	EOF
	pg_ctl -D "$work/data" -l "$work/server.log" -s start || {
		cat "$work/server.log"
		die "the server did not start"
	}
	# Node leases are in this database, for all of the server.
	psql -X -q -d postgres -c 'CREATE EXTENSION idgen'
}

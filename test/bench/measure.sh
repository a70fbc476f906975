# measure.sh, sourced by script/bench: timed runs in alternating rounds.
#
# Every round runs all contenders once, one after the other, so that whatever else
# the machine does meets them alike.  Each run is a connection of its own, warmed
# up before the statement that counts; the clock is pgbench's.  All samples stay
# in the database, and the tables are made of them there (measure.sql).

# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with other files

# What the figures depend on.  Nothing in the background, no checkpoint that was
# not asked for, and room for everything a benchmark inserts.
settings=(
	autovacuum=off
	checkpoint_timeout=1d
	jit=off
	max_wal_size=20GB
	shared_buffers=512MB
)

start_bench_server() {
	start_server
	printf '%s\n' "${settings[@]}" >>"$work/data/postgresql.conf"
	pg_ctl -D "$work/data" -l "$work/server.log" -s restart
}

# The database is named after the family; psql and pgbench go there from now on.
new_bench_database() {
	createdb "$1"
	export PGDATABASE=$1
	query -c 'create extension idgen' -f test/bench/measure.sql
}

query() {
	psql -X -q -At -v ON_ERROR_STOP=1 -v rows="$rows" "$@"
}

# Prints what standard input selects, as a part of the report.
report() {
	query "$@" >&3
}

machine() {
	local version cpu values system_call
	version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" idgen.control)
	cpu=$(sed -n '/^model name/ { s/.*: //p; q }' /proc/cpuinfo)
	[ -n "$cpu" ] || cpu=$(lscpu | sed -n 's/^Model name: *//p') || cpu='CPU unknown'
	# Generators that draw random bytes one id at a time pay one in each call, and
	# what it costs differs widely among machines. dd makes two system calls a block.
	system_call=$(dd if=/dev/zero of=/dev/null bs=1 count=200000 2>&1 |
		awk '/copied/ { sub(/.*copied, /, ""); print int($1 / 400000 * 1e9) }')
	values=$(
		query -d postgres -v ours="${settings[*]%%=*}" <<-'END'
			select string_agg(format('%s = %s', name, current_setting(name)), ', ' order by name)
			from pg_settings
			where current_setting(name) <> '' and
			    (name = any (string_to_array(:'ours', ' ')) or
			     name in ('fsync', 'full_page_writes', 'shared_preload_libraries', 'wal_compression', 'work_mem'))
		END
	)
	cat >&3 <<-END
		## idgen $version ($commit), $("$PG_CONFIG" --version)

		$(date -u +%F), $cpu, $(nproc) cores, about $system_call ns a system call,
		load before it $(cut -d ' ' -f 1 /proc/loadavg):
		\`script/bench --rounds $rounds --rows $rows ${families[*]}\`

		Settings: $values.
	END
}

### Contenders

contenders=() # their names, in the order of the rounds
absent=()     # names of those that this server does not have
declare -A sql # name => the function call, or whatever the benchmark needs

no_contenders() {
	contenders=()
	absent=()
}

# contender NAME SQL [t|f]: enters it, or with f notes that it is absent.
contender() {
	if [ "${3:-t}" = t ]; then
		contenders+=("$1")
		sql[$1]=$2
	else
		absent+=("$1")
	fi
}

report_absent() {
	local list
	[ "${#absent[@]}" -gt 0 ] || return 0
	printf -v list '%s, ' "${absent[@]}"
	printf '\nAbsent here: %s.\n' "${list%, }" >&3
}

### Rounds

# run_rounds TEST SESSIONS SCRIPT: all rounds of a test.  The command SCRIPT prints
# the pgbench script of the contender that it is given; the last line counts.
run_rounds() {
	local round name ms
	for ((round = 1; round <= rounds; round++)); do
		echo "$1, sessions: $2, round $round of $rounds"
		for name in "${contenders[@]}"; do
			"$3" "$name" >"$work/tmp/script.sql"
			ms=$(time_script "$2" "$work/tmp/script.sql")
			printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$name" "$ms"
		done >"$work/tmp/samples"
		query -c "\copy sample (test, sessions, name, ms) from '$work/tmp/samples'"
	done
}

# time_script SESSIONS FILE: ms for the last statement, the mean of the sessions.
time_script() {
	pgbench -n -r -c "$1" -j "$1" -t 1 -f "$2" >"$work/tmp/pgbench" 2>"$work/tmp/pgbench.err" || {
		cat "$2" "$work/tmp/pgbench" "$work/tmp/pgbench.err" >&2
		die "pgbench failed"
	}
	awk 'END { print $1 }' "$work/tmp/pgbench"
}

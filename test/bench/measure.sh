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
		\`script/bench --rounds $rounds --rows $rows --seconds $seconds ${families[*]}\`

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

# run_rounds TEST SESSIONS SCRIPT [CLOCK]: all rounds of a test.  The command SCRIPT
# prints the pgbench script of the contender that it is given.  CLOCK runs it:
# time_script (the default) or rate_script.
run_rounds() {
	local round name ms
	for ((round = 1; round <= rounds; round++)); do
		echo "$1, sessions: $2, round $round of $rounds"
		for name in "${contenders[@]}"; do
			"$3" "$name" >"$work/tmp/script.sql"
			ms=$("${4:-time_script}" "$2" "$work/tmp/script.sql")
			printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$name" "$ms"
		done >"$work/tmp/samples"
		query -c "\copy sample (test, sessions, name, ms) from '$work/tmp/samples'"
	done
}

# time_script SESSIONS FILE: ms for the last statement, the mean of the sessions.
time_script() {
	run_pgbench -r -c "$1" -j "$1" -t 1 -f "$2"
	awk 'END { print $1 }' "$work/tmp/pgbench"
}

# rate_script SESSIONS FILE: ms per transaction, of all sessions together.
rate_script() {
	run_pgbench -M prepared -c "$1" -j "$(nproc)" -T "$seconds" -f "$2"
	awk '/^tps = / { print 1000 / $3 }' "$work/tmp/pgbench"
}

run_pgbench() {
	pgbench -n "$@" >"$work/tmp/pgbench" 2>"$work/tmp/pgbench.err" || {
		cat "${@: -1}" "$work/tmp/pgbench" "$work/tmp/pgbench.err" >&2
		die "pgbench failed"
	}
}

# report_rates TEST SESSIONS REFERENCE
report_rates() {
	report -v test="$1" -v sessions="$2" -v reference="$3" <<-'END'
		\echo
		\echo '| what | median, per s | min..max | to' :reference '|'
		\echo '|---|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s |', r.name, round(r.median), round(r.min), round(r.max),
		    ratio(r.median, reference.median))
		from rate as r, rate as reference
		where (r.test, r.sessions) = (:'test', :sessions)
		    and (reference.test, reference.sessions, reference.name) = (:'test', :sessions, :'reference')
		order by r.place
	END
	report_absent
}

### Tests that several families have

# run_calls REFERENCE: time per call of the contenders, which are function calls.
run_calls() {
	local sessions
	for sessions in 1 2; do
		run_rounds call "$sessions" call_script
		report -v sessions="$sessions" -v reference="$1" <<-'END'
			\echo
			\echo '### Per call, sessions at a time:' :sessions
			\echo
			\echo '`select count(f()) from generate_series(1,':rows')`, time per call in ns'
			\echo
			\echo '| function | median | min..max | whole query, to' :reference '| net of the empty call, ns | net, to' :reference '|'
			\echo '|---|--:|--:|--:|--:|--:|'
			select format('| %s | %s | %s..%s | %s | %s | %s |', name,
			    round(median * 1e6 / :rows), round(min * 1e6 / :rows), round(max * 1e6 / :rows),
			    ratio(median, reference),
			    case when median <> empty then round((median - empty) * 1e6 / :rows)::text else '-' end,
			    case when median <> empty then ratio(median - empty, reference - empty) else '-' end)
			from result,
			    median('call', :sessions, :'reference') as reference,
			    median('call', :sessions, 'empty C function') as empty
			where test = 'call' and sessions = :sessions
			order by place
		END
		report_absent
	done
}

# The call before the one that counts loads the library.
call_script() {
	printf 'select %s;\nselect count(%s) from generate_series(1,%s);\n' "${sql[$1]}" "${sql[$1]}" "$rows"
}

# run_inserts REFERENCE: insert by default, of the contenders, which are columns.
# Each has a table of its name.
run_inserts() {
	local name
	for name in "${contenders[@]}"; do
		query -c "create table \"$name\" (id ${sql[$name]} primary key, payload bigint)"
	done
	run_rounds insert 1 insert_script
	report -v reference="$1" <<-'END'
		\echo
		\echo '### Insert of' :rows 'rows by default'
		\echo
		\echo '`insert into t(payload) select g from generate_series(1,':rows') g` into an empty table, after a checkpoint'
		\echo
		\echo '| primary key | median, s | min..max | to' :reference '| index |'
		\echo '|---|--:|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s | %s |', name,
		    to_char(median / 1e3, 'FM990.00'), to_char(min / 1e3, 'FM990.00'), to_char(max / 1e3, 'FM990.00'),
		    ratio(median, median('insert', 1, :'reference')),
		    pg_size_pretty(pg_indexes_size(quote_ident(name)::regclass)))
		from result
		where test = 'insert'
		order by place
	END
	report_absent
}

insert_script() {
	cat <<-END
		truncate "$1";
		checkpoint;
		insert into "$1" (payload) select g from generate_series(1,$rows) g;
	END
}

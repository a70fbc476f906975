# uuid.sh, sourced by script/bench: uuidv7_mono() beside what else makes UUIDs.

# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with other files

bench_uuid() {
	local core pg_uuidv7
	core=$(query -c "select to_regprocedure('pg_catalog.uuidv7()') is not null")
	pg_uuidv7=$(query -c "select count(*) > 0 from pg_available_extensions where name = 'pg_uuidv7'")
	[ "$pg_uuidv7" = f ] || query -c 'create extension pg_uuidv7'

	uuid_calls
	uuid_inserts
	uuid_keys
	uuid_goals
}

### Per call

uuid_calls() {
	local sessions
	# A function of PostgreSQL that does next to nothing, called as one of an
	# extension is: by the address found when the query starts.
	query -c "create function no_op() returns int language internal volatile as 'pg_backend_pid'"

	no_contenders
	contender 'empty C function' 'no_op()'
	contender 'gen_random_uuid()' 'gen_random_uuid()'
	contender 'core uuidv7()' 'pg_catalog.uuidv7()' "$core"
	contender 'pg_uuidv7 uuid_generate_v7()' 'uuid_generate_v7()' "$pg_uuidv7"
	contender 'uuidv7_mono()' 'uuidv7_mono()'
	contender 'uuidv7_mono(interval)' "uuidv7_mono('1 hour'::interval)"

	for sessions in 1 2; do
		run_rounds call "$sessions" uuid_call_script
		report -v sessions="$sessions" <<-'END'
			\echo
			\echo '### Per call, sessions at a time:' :sessions
			\echo
			\echo '`select count(f()) from generate_series(1,':rows')`, time per call in ns'
			\echo
			\echo '| function | median | min..max | whole query, to uuidv7_mono() | net of the empty call |'
			\echo '|---|--:|--:|--:|--:|'
			select format('| %s | %s | %s..%s | %s | %s |', name,
			    round(median * 1e6 / :rows), round(min * 1e6 / :rows), round(max * 1e6 / :rows),
			    ratio(median, mono),
			    case when median <> empty then ratio(median - empty, mono - empty) else '-' end)
			from result,
			    median('call', :sessions, 'uuidv7_mono()') as mono,
			    median('call', :sessions, 'empty C function') as empty
			where test = 'call' and sessions = :sessions
			order by place
		END
		report_absent
	done
}

# The call before the one that counts loads the library.
uuid_call_script() {
	printf 'select %s;\nselect count(%s) from generate_series(1,%s);\n' "${sql[$1]}" "${sql[$1]}" "$rows"
}

### Insert by default

uuid_inserts() {
	local name
	no_contenders
	contender 'bigint identity' 'bigint generated always as identity'
	contender 'gen_random_uuid()' 'uuid default gen_random_uuid()'
	contender 'core uuidv7()' 'uuid default pg_catalog.uuidv7()' "$core"
	contender 'pg_uuidv7 uuid_generate_v7()' 'uuid default uuid_generate_v7()' "$pg_uuidv7"
	contender 'uuidv7_mono()' 'uuid default uuidv7_mono()'

	# Each has a table of its name.
	for name in "${contenders[@]}"; do
		query -c "create table \"$name\" (id ${sql[$name]} primary key, payload bigint)"
	done
	run_rounds insert 1 uuid_insert_script
	report <<-'END'
		\echo
		\echo '### Insert of' :rows 'rows by default'
		\echo
		\echo '`insert into t(payload) select g from generate_series(1,':rows') g` into an empty table, after a checkpoint'
		\echo
		\echo '| primary key | median, s | min..max | to uuidv7_mono() | index |'
		\echo '|---|--:|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s | %s |', name,
		    to_char(median / 1e3, 'FM990.00'), to_char(min / 1e3, 'FM990.00'), to_char(max / 1e3, 'FM990.00'),
		    ratio(median, median('insert', 1, 'uuidv7_mono()')),
		    pg_size_pretty(pg_indexes_size(quote_ident(name)::regclass)))
		from result
		where test = 'insert'
		order by place
	END
	report_absent
}

uuid_insert_script() {
	cat <<-END
		truncate "$1";
		checkpoint;
		insert into "$1" (payload) select g from generate_series(1,$rows) g;
	END
}

### Key choice: counts, the same in every run, so one is enough

uuid_keys() {
	query -f test/bench/keys.sql
	uuid_key 'bigint identity' 'bigint generated always as identity'
	uuid_key 'UUIDv4, gen_random_uuid()' 'uuid default gen_random_uuid()'
	uuid_key 'UUIDv7, uuidv7_mono()' 'uuid default uuidv7_mono()'
	report <<-'END'
		\echo
		\echo '### Key choice: what the second' :rows 'rows cost'
		\echo
		\echo 'Into a table that holds as many rows already, in ten batches with a checkpoint before each.'
		\echo
		\echo '| primary key | WAL | full-page images | buffers dirtied | leaf density | index before | index after |'
		\echo '|---|--:|--:|--:|--:|--:|--:|'
		select format('| %s | %s | %s | %s | %s %% | %s | %s |', name,
		    pg_size_pretty(wal_bytes), to_char(images, 'FM999,999,990'), to_char(dirtied, 'FM999,999,990'),
		    round(leaf_density), pg_size_pretty(index_before), pg_size_pretty(index_after))
		from key_cost
		order by n
	END
}

# uuid_key NAME COLUMN
uuid_key() {
	echo "key choice: $1"
	query -v name="$1" -v id="$2" -f test/bench/key.sql
}

uuid_goals() {
	report <<-'END'
		\echo
		\echo '### Goals'
		\echo
		select goal(format('whole query at least %sx faster than %s, sessions: %s', factor, name, sessions),
		    factor, median('call', sessions, name), median('call', sessions, 'uuidv7_mono()'))
		from (values (5, 'core uuidv7()'), (4, 'gen_random_uuid()')) as g(factor, name),
		    generate_series(1, 2) as sessions;
		select goal(format('net of the empty call at least 15x faster than core uuidv7(), sessions: %s', sessions),
		    15, median('call', sessions, 'core uuidv7()') - empty, median('call', sessions, 'uuidv7_mono()') - empty)
		from generate_series(1, 2) as sessions, median('call', sessions, 'empty C function') as empty;
		select goal('insert takes no longer than with core uuidv7()', 1,
		    median('insert', 1, 'core uuidv7()'), median('insert', 1, 'uuidv7_mono()'))
	END
}

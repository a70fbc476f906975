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

uuid_calls() {
	no_contenders
	contender 'empty C function' 'no_op()'
	contender 'gen_random_uuid()' 'gen_random_uuid()'
	contender 'core uuidv7()' 'pg_catalog.uuidv7()' "$core"
	contender 'pg_uuidv7 uuid_generate_v7()' 'uuid_generate_v7()' "$pg_uuidv7"
	contender 'uuidv7_mono()' 'uuidv7_mono()'
	contender 'uuidv7_mono(interval)' "uuidv7_mono('1 hour'::interval)"
	run_calls 'uuidv7_mono()'
}

uuid_inserts() {
	no_contenders
	contender 'bigint identity' 'bigint generated always as identity'
	contender 'gen_random_uuid()' 'uuid default gen_random_uuid()'
	contender 'core uuidv7()' 'uuid default pg_catalog.uuidv7()' "$core"
	contender 'pg_uuidv7 uuid_generate_v7()' 'uuid default uuid_generate_v7()' "$pg_uuidv7"
	contender 'uuidv7_mono()' 'uuid default uuidv7_mono()'
	run_inserts 'uuidv7_mono()'
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
		select goal_at_least(format('whole query at least %sx faster than %s, sessions: %s', factor, name, sessions),
		    factor, median('call', sessions, name), median('call', sessions, 'uuidv7_mono()'))
		from (values (5, 'core uuidv7()'), (4, 'gen_random_uuid()')) as g(factor, name),
		    generate_series(1, 2) as sessions;
		select goal_at_least(format('net of the empty call at least 15x faster than core uuidv7(), sessions: %s', sessions),
		    15, median('call', sessions, 'core uuidv7()') - empty, median('call', sessions, 'uuidv7_mono()') - empty)
		from generate_series(1, 2) as sessions, median('call', sessions, 'empty C function') as empty;
		select goal_at_least('insert takes no longer than with core uuidv7()', 1,
		    median('insert', 1, 'core uuidv7()'), median('insert', 1, 'uuidv7_mono()'))
	END
}

# snowflake.sh, sourced by script/bench: snowflake_next() beside what it is made of,
# and beside a sequence.

# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with other files

# Of the built-in layout, in a ms.
ceiling=4096

bench_snowflake() {
	snowflake_calls
	snowflake_share
	snowflake_inserts
	snowflake_goals
}

# An id cannot cost less than a call and a look at the clock.
snowflake_calls() {
	query -c 'create sequence plain'
	no_contenders
	contender 'empty C function' 'no_op()'
	contender 'one clock read' 'clock_timestamp()'
	contender 'nextval' "nextval('plain')"
	contender 'uuidv7_mono()' 'uuidv7_mono()'
	contender 'snowflake_next()' 'snowflake_next()'
	run_calls 'snowflake_next()'
}

snowflake_share() {
	report -v ceiling="$ceiling" <<-'END'
		\echo
		\echo '### Share of the ceiling, which is' :ceiling 'ids in a ms'
		\echo
		\echo '| sessions | snowflake_next(), ids per ms | of the ceiling | one clock read, calls per ms |'
		\echo '|--:|--:|--:|--:|'
		select format('| %s | %s | %s %% | %s |', sessions, round(ids), round(100 * ids / :ceiling), round(calls))
		from generate_series(1, 2) as sessions,
		    lateral (select sessions * :rows / median('call', sessions, 'snowflake_next()') as ids,
		        sessions * :rows / median('call', sessions, 'one clock read') as calls) as rate
	END
}

snowflake_inserts() {
	no_contenders
	contender 'bigint identity' 'bigint generated always as identity'
	contender 'snowflake_next()' 'bigint default snowflake_next()'
	run_inserts 'bigint identity'
	run_rounds 'single insert' 8 snowflake_single_script rate_script
	printf '\n### Inserts of a row each by 8 clients\n' >&3
	report_rates 'single insert' 8 'bigint identity'
}

snowflake_single_script() {
	query -c "truncate \"$1\"" -c checkpoint
	echo "insert into \"$1\" (payload) values (1);"
}

snowflake_goals() {
	report -v ceiling="$ceiling" <<-'END'
		\echo
		\echo '### Goals'
		\echo
		select goal_at_least('two sessions: 0.95 of the ceiling, or of the calls of one clock read if those are fewer',
		    0.95, 2 * :rows / median('call', 2, 'snowflake_next()'),
		    least(:ceiling, 2 * :rows / median('call', 2, 'one clock read')));
		select goal_at_most(format('insert of %s rows within 5 %% of bigint identity', :rows),
		    1.05, median('insert', 1, 'snowflake_next()'), median('insert', 1, 'bigint identity'))
	END
}

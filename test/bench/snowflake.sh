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

# Rates over several statements. In run_calls the rows are gathered before the
# first call, and no id is issued meanwhile; here they come as they are made.
snowflake_share() {
	local sessions
	no_contenders
	contender 'one clock read' 'clock_timestamp()'
	contender 'snowflake_next()' 'snowflake_next()'
	for sessions in 1 2; do
		run_rounds stream "$sessions" snowflake_stream_script rate_script
	done
	report -v ceiling="$ceiling" <<-'END'
		\echo
		\echo '### Share of the ceiling, which is' :ceiling 'ids in a ms'
		\echo
		\echo '`select count(f()) from (select generate_series(1,100000)) as g` again and again'
		\echo
		\echo '| sessions | snowflake_next(), ids per ms | min..max | of the ceiling | one clock read, calls per ms |'
		\echo '|--:|--:|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s %% | %s |', ids.sessions, round(100 * ids.median), round(100 * ids.min),
		    round(100 * ids.max), round(1e4 * ids.median / :ceiling), round(100 * calls.median))
		from rate as ids join rate as calls using (test, sessions)
		where test = 'stream' and ids.name = 'snowflake_next()' and calls.name = 'one clock read'
		order by ids.sessions
	END
}

snowflake_stream_script() {
	echo "select count(${sql[$1]}) from (select generate_series(1,100000)) as g;"
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
		    0.95, 1e5 / median('stream', 2, 'snowflake_next()'),
		    least(:ceiling, 1e5 / median('stream', 2, 'one clock read')));
		select goal_at_most(format('insert of %s rows within 5 %% of bigint identity', :rows),
		    1.05, median('insert', 1, 'snowflake_next()'), median('insert', 1, 'bigint identity'))
	END
}

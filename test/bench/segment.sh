# segment.sh, sourced by script/bench: segment_next() and segment_alloc() beside
# sequences, and beside clients that reserve blocks themselves.

# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with other files

clients=8
steps=(1 10 100 1000 10000)

bench_segment() {
	query -c 'alter system set fsync = on' -c 'select pg_reload_conf()' >/dev/null
	segment_disk
	segment_calls
	segment_inserts
	segment_single_inserts
	segment_blocks
	segment_steps
	segment_goals
	query -c 'alter system reset fsync' -c 'select pg_reload_conf()' >/dev/null
}

# Leaves in disk what goals that are about a disk need: t if there is one.
segment_disk() {
	local kind source flush note=
	read -r kind source < <(df --output=fstype,source "$work/data" | tail -n 1)
	flush=$(dd if=/dev/zero of="$work/data/flush" bs=8k count=500 oflag=dsync 2>&1 |
		awk '/copied/ { sub(/.*copied, /, ""); print int($1 / 500 * 1e6) }')
	rm "$work/data/flush"
	disk=t
	if [ "$kind" = tmpfs ] || [ "$kind" = overlay ]; then
		disk=f
		note=' **That may be no disk, so goals about one are not judged.**'
	fi
	printf '\nFrom here on fsync = on; data directory on %s (%s), about %s µs a flush of 8 kB.%s\n' \
		"$kind" "$source" "$flush" "$note" >&3
}

# tag NAME STEP
tag() {
	query -c "insert into id_segment (biz_tag, step) values ('$1', $2)"
}

segment_calls() {
	tag call 1000000
	query -c 'create sequence plain' -c 'create sequence cached cache 1000'
	no_contenders
	contender 'empty C function' 'no_op()'
	contender 'nextval' "nextval('plain')"
	contender 'nextval, CACHE 1000' "nextval('cached')"
	contender 'segment_next, step 1000000' "segment_next('call')"
	run_calls 'nextval, CACHE 1000'
}

segment_inserts() {
	local step
	no_contenders
	contender 'bigint identity' 'bigint generated always as identity'
	for step in 1000 10000 1000000; do
		tag "segment_next, step $step" "$step"
		contender "segment_next, step $step" "bigint default segment_next('segment_next, step $step')"
	done
	run_inserts 'bigint identity'
}

# Into the tables of segment_inserts.
segment_single_inserts() {
	contenders=('bigint identity' 'segment_next, step 1000')
	run_rounds 'single insert' "$clients" segment_single_script rate_script
	printf '\n### Inserts of a row each by %s clients\n' "$clients" >&3
	report_rates 'single insert' "$clients" 'bigint identity'
}

segment_single_script() {
	query -c "truncate \"$1\"" -c checkpoint
	echo "insert into \"$1\" (payload) values (1);"
}

# The rival's table has no trigger, and nobody writes a log for it.
segment_blocks() {
	tag blocks 1000
	query <<-'END'
		create table own_segment (
		    biz_tag text primary key,
		    max_id bigint not null,
		    step int not null,
		    updated_at timestamptz not null
		) with (fillfactor = 50);
		insert into own_segment values ('blocks', 0, 1000, now());
	END
	no_contenders
	contender 'UPDATE ... RETURNING' \
		"update own_segment set max_id = max_id + step, updated_at = now() where biz_tag = 'blocks' returning max_id - step + 1, max_id"
	contender 'segment_alloc' "select * from segment_alloc('blocks')"
	run_rounds blocks "$clients" segment_statement rate_script
	printf '\n### Blocks reserved by %s clients, of one tag\n' "$clients" >&3
	report_rates blocks "$clients" 'UPDATE ... RETURNING'
}

segment_statement() {
	echo "${sql[$1]};"
}

segment_steps() {
	local step
	query -c 'create sequence stepped cache 1000'
	no_contenders
	contender 'nextval, CACHE 1000' "select nextval('stepped')"
	for step in "${steps[@]}"; do
		tag "step $step" "$step"
		contender "step $step" "select segment_next('step $step')"
	done
	run_rounds steps "$clients" segment_statement rate_script
	report -v clients="$clients" <<-'END'
		\echo
		\echo '### Steps: `select segment_next(...)` by' :clients 'clients, of one tag'
		\echo
		\echo '| what | median, per s | min..max | numbers issued | blocks fetched | calls that waited | of all | longest wait, ms |'
		\echo '|---|--:|--:|--:|--:|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s | %s | %s | %s | %s |', name, round(median), round(min), round(max),
		    coalesce(issued::text, '-'), coalesce(blocks::text, '-'), coalesce(waits::text, '-'),
		    coalesce(to_char(100.0 * waits / issued, 'FM990.000 %'), '-'),
		    coalesce(to_char(longest_wait_ms, 'FM99990.0'), '-'))
		from rate left join segment_status on biz_tag = name
		where test = 'steps'
		order by place
	END
}

segment_goals() {
	report -v clients="$clients" -v disk="$disk" <<-'END'
		\echo
		\echo '### Goals'
		\echo
		select goal_at_most('segment_next, step 1000000, one session, net of the empty call at most 0.4x of nextval, CACHE 1000',
		    0.4, median('call', 1, 'segment_next, step 1000000') - empty, median('call', 1, 'nextval, CACHE 1000') - empty)
		from median('call', 1, 'empty C function') as empty;
		select goal_at_most(format('insert of %s rows within 5 %% of bigint identity, step %s', :rows, step),
		    1.05, median('insert', 1, format('segment_next, step %s', step)), median('insert', 1, 'bigint identity'))
		from unnest(array[1000, 10000, 1000000]) as step;
		select goal_at_least(format('segment_alloc at least 4x the rate of UPDATE ... RETURNING, clients: %s', :clients),
		    4, median('blocks', :clients, 'UPDATE ... RETURNING'),
		    case when :'disk' then median('blocks', :clients, 'segment_alloc') end)
	END
}

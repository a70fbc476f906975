# codecs.sh, sourced by script/bench: what it costs to store or to show an id as text.

# shellcheck shell=bash disable=SC2034,SC2154 # variables shared with other files

bench_codecs() {
	local rows=$((rows < 200000 ? rows : 200000))
	query -f test/bench/codecs.sql
	codecs_calls
	codecs_columns
	codecs_inserts
	codecs_sizes
	codecs_goals
}

# Over a table of 1000 rows, again and again: of a constant the planner would make
# a constant.
codecs_calls() {
	local key="'\\x000102030405060708090a0b0c0d0e0f'"
	no_contenders
	contender 'the column alone' 'id'
	contender 'id::text, core' 'id::text'
	contender 'typeid_encode()' "typeid_encode('prj', id)"
	contender 'the same in SQL' "sql_typeid('prj', id)"
	contender 'typeid_decode()' "typeid_decode(typeid, 'prj')"
	contender 'b32_encode()' 'b32_encode(id)'
	contender 'b32_decode()' 'b32_decode(b32)'
	contender 'ulid_encode()' 'ulid_encode(id)'
	contender 'ulid_decode()' 'ulid_decode(ulid)'
	contender 'ksuid_encode()' 'ksuid_encode(ksuid)'
	contender 'ksuid_decode()' 'ksuid_decode(ksuid_text)'
	contender 'sqids_encode()' 'sqids_encode(numbers)'
	contender 'sqids_decode()' 'sqids_decode(sqid)'
	contender 'id_mask()' "id_mask(n, $key)"
	contender 'id_unmask()' "id_unmask(masked, $key)"
	contender 'uuid_mask()' "uuid_mask(id, $key)"
	contender 'uuid_unmask()' "uuid_unmask(uuid_masked, $key)"
	contender 'uuidv7_mono()' 'uuidv7_mono()'
	contender 'ulid_next()' 'ulid_next()'
	contender 'ksuid_next()' 'ksuid_next()'
	contender 'nanoid()' 'nanoid()'
	run_rounds codec 1 codec_script
	report <<-'END'
		\echo
		\echo '### Per call over a table'
		\echo
		\echo '`select count(f(column)) from input, generate_series(...)`,' :rows 'rows, time per row in ns'
		\echo
		\echo '| what | median | min..max | net of the column alone |'
		\echo '|---|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s |', name,
		    round(median * 1e6 / :rows), round(min * 1e6 / :rows), round(max * 1e6 / :rows),
		    case when median <> alone then round((median - alone) * 1e6 / :rows)::text else '-' end)
		from result, median('codec', 1, 'the column alone') as alone
		where test = 'codec'
		order by place
	END
}

codec_script() {
	printf 'select %s from input limit 1;\nselect count(%s) from input, generate_series(1,%s);\n' \
		"${sql[$1]}" "${sql[$1]}" "$((rows / 1000))"
}

# Without an index: the default alone, and what its text takes in the table.
codecs_columns() {
	local name
	no_contenders
	contender 'column uuidv7_mono()' 'uuid default uuidv7_mono()'
	contender 'column typeid_encode()' "text default typeid_encode('prj', uuidv7_mono())"
	contender 'column sql_typeid()' "text default sql_typeid('prj', uuidv7_mono())"
	contender 'column b32_encode()' 'text default b32_encode(uuidv7_mono())'
	contender 'column ulid_encode()' 'text default ulid_encode(ulid_next())'
	for name in "${contenders[@]}"; do
		query -c "create table \"$name\" (id ${sql[$name]}, payload bigint)"
	done
	run_rounds column 1 insert_script
	report <<-'END'
		\echo
		\echo '### Insert of' :rows 'rows by default, without a key'
		\echo
		\echo '| what | median, s | min..max | to uuidv7_mono() |'
		\echo '|---|--:|--:|--:|'
		select format('| %s | %s | %s..%s | %s |', name,
		    to_char(median / 1e3, 'FM990.00'), to_char(min / 1e3, 'FM990.00'), to_char(max / 1e3, 'FM990.00'),
		    ratio(median, median('column', 1, 'column uuidv7_mono()')))
		from result
		where test = 'column'
		order by place
	END
}

codecs_inserts() {
	no_contenders
	contender 'uuidv7_mono()' 'uuid default uuidv7_mono()'
	contender 'typeid_encode()' "text collate \"C\" default typeid_encode('prj', uuidv7_mono())"
	contender 'the same in SQL' "text collate \"C\" default sql_typeid('prj', uuidv7_mono())"
	contender 'b32_encode()' 'text collate "C" default b32_encode(uuidv7_mono())'
	contender 'ulid_next()' 'uuid default ulid_next()'
	contender 'ulid_encode()' 'text collate "C" default ulid_encode(ulid_next())'
	contender 'ksuid_next()' 'bytea default ksuid_next()'
	contender 'ksuid_encode()' 'text collate "C" default ksuid_encode(ksuid_next())'
	contender 'nanoid()' 'text collate "C" default nanoid()'
	run_inserts 'uuidv7_mono()'
}

codecs_sizes() {
	report <<-'END'
		\echo
		\echo '### Size of those tables'
		\echo
		\echo '| primary key | heap | to uuid | index | to uuid |'
		\echo '|---|--:|--:|--:|--:|'
		with size as (
		    select name, place, pg_table_size(quote_ident(name)::regclass) as heap,
		        pg_indexes_size(quote_ident(name)::regclass) as index
		    from result where test = 'insert')
		select format('| %s | %s | %s | %s | %s |', s.name,
		    pg_size_pretty(s.heap), ratio(s.heap, u.heap), pg_size_pretty(s.index), ratio(s.index, u.index))
		from size as s, size as u
		where u.name = 'uuidv7_mono()'
		order by s.place
	END
}

codecs_goals() {
	report <<-'END'
		\echo
		\echo '### Goals'
		\echo
		select goal_at_most(format('insert with %s takes at most 1.3x of uuidv7_mono()', name),
		    1.3, median('column', 1, name), median('column', 1, 'column uuidv7_mono()'))
		from unnest(array['column typeid_encode()', 'column b32_encode()', 'column ulid_encode()']) as name;
		select goal_at_most(format('the same with a primary key of %s', name),
		    1.3, median('insert', 1, name), median('insert', 1, 'uuidv7_mono()'))
		from unnest(array['typeid_encode()', 'b32_encode()', 'ulid_encode()']) as name
	END
}

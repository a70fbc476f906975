# An ordinary role cannot change where ids come from: not by start-up options,
# not by loading the library first inside a parallel plan. Nor does a setting
# of its own keep it from getting ids.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main');
$node->safe_psql('postgres', q{
    CREATE ROLE ordinary LOGIN;
    GRANT CREATE ON SCHEMA public TO ordinary;
    CREATE TABLE numbers AS SELECT generate_series(1, 20000) AS n;
    ALTER TABLE numbers SET (parallel_workers = 2);
    ANALYZE numbers;
    GRANT SELECT ON numbers TO ordinary;
    CREATE TABLE ids (id uuid)});

# The settings of a parallel plan, under the names of each major.
my $force = $node->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query';
my $parallel = "SET $force = on; SET parallel_setup_cost = 0;
    SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;";
my $query = 'SELECT count(DISTINCT uuidv7_mono()) FROM numbers';
my $in_workers = 'SELECT uuidv7_mono() FROM numbers';

like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF, VERBOSE) $in_workers",
    extra_params => [ '-U', 'ordinary' ]),
    qr/Gather.*Output: uuidv7_mono\(\)/s, 'workers call the generator');
my $before = $node->safe_psql('postgres', 'SELECT uuidv7_mono()');
my $ids = $node->safe_psql('postgres', "$parallel $in_workers",
    extra_params => [ '-U', 'ordinary' ]);
my %distinct = map { $_ => 1 } split /\n/, $ids;
is(scalar(keys %distinct), 20000, 'a first load inside a parallel plan: all distinct');
is(scalar(grep { $_ le $before } keys %distinct), 0, '... and above all issued before');
is($node->safe_psql('postgres', "$parallel $query", extra_params => [ '-U', 'ordinary' ]),
    20000, 'an aggregate over a parallel plan');

# Where ids come from is not for a session to say, however it says it.
{
    local $ENV{PGOPTIONS} = '-c idgen.node_id=7 -c idgen.lease_database=template1';
    my ($rc, $out, $err) = $node->psql('postgres', 'SELECT snowflake_node(snowflake_next())',
        extra_params => [ '-U', 'ordinary' ]);
    isnt($out, 7, 'idgen.node_id among the start-up options: refused, or without effect');
}

# Start-up options with our prefix.
SKIP:
{
    local $ENV{PGOPTIONS} = '-c idgen.made_up=7';
    if (needs_preload($node))
    {
        my ($rc, $out, $err) = $node->psql('postgres', 'SELECT uuidv7_mono()',
            extra_params => [ '-U', 'ordinary' ]);
        like($err, qr/invalid configuration parameter name "idgen.made_up"/,
            'preloaded: a made-up setting is refused at connect');
        skip 'preloaded, there is no late load', 3;
    }
    my ($rc, $out, $err) = $node->psql('postgres', 'SELECT uuidv7_mono()',
        extra_params => [ '-U', 'ordinary' ]);
    is($rc, 0, 'loaded late: a made-up setting does not keep ids back');
    like($err, qr/WARNING:  invalid configuration parameter name "idgen.made_up"/,
        '... it is named and removed');
    cmp_ok($out, 'gt', $before, '... and ids go on from the same word');
    ($rc, $out, $err) = $node->psql('postgres', "$parallel $query",
        extra_params => [ '-U', 'ordinary' ]);
    is("$rc $out", '0 20000', '... also when workers load the library first');
}

# What an ordinary role may not do it cannot do through a function of its own.
is(sqlstate_of($node, q{SELECT idgen_shift_clock('1 h')},
    extra_params => [ '-U', 'ordinary' ]), '42501', 'shifting the clock is refused');
is(sqlstate_of($node, q{CREATE FUNCTION mine(interval) RETURNS void LANGUAGE C
    AS '$libdir/idgen', 'idgen_shift_clock'}, extra_params => [ '-U', 'ordinary' ]),
    '42501', 'so is binding the C function anew');

$node->stop;
done_testing();

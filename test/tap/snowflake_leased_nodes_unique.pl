# Four servers lease their nodes of one coordinator, and take 400,000 ids at once, and
# 400,000 numbers of one tag: each comes once, in one table keyed by it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $coordinator = fleet_coordinator('coordinator');
add_tag($coordinator, 'order', 1000);
my @members = map { fleet_member("member$_", [$coordinator]) } 1 .. 4;
$_->safe_psql('postgres', q{CREATE TABLE item (n bigserial, id bigint, number bigint)})
    foreach @members;

my @sessions = map { psql_start($_, 'load', q{INSERT INTO item (id, number)
    SELECT snowflake_next(), segment_next('order') FROM generate_series(1, 100000)}) } @members;
foreach my $session (@sessions)
{
    my ($rc, $out, $err) = psql_finish($session);
    is($rc, 0, 'a server takes 100,000 of each') or diag $err;
}

is(gathered_conflicts($coordinator, 'SELECT id FROM item', @members), '',
    'snowflake_leased_nodes_unique: no conflict');
is($coordinator->safe_psql('postgres',
    'SELECT count(*), count(DISTINCT snowflake_node(id)) FROM gathered'),
    '400000|4', '400,000 ids, of 4 nodes');
is($coordinator->safe_psql('postgres', 'SELECT count(*), count(DISTINCT holder) FROM node_lease'),
    '4|4', '... which 4 servers hold');

is(gathered_conflicts($coordinator, 'SELECT number FROM item', @members), '',
    'segment_four_processes_unique: no conflict');
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM gathered'), '400000',
    '400,000 numbers');
foreach my $column ('id', 'number')
{
    is($_->safe_psql('postgres', "SELECT count(*) FROM (SELECT $column
        <= lag($column) OVER (ORDER BY n) AS falls FROM item) s WHERE falls"), 0,
        "$column rises on " . $_->name) foreach @members;
}

next_landed($_, 'order') foreach @members;
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');
my $left = 0;
$left += $_->safe_psql('postgres', q{SELECT block_end - coalesce(next_id, block_end + 1) + 1
    + next_block_end - next_block_start + 1 FROM segment_status}) foreach @members;
is($coordinator->safe_psql('postgres', 'SELECT max_id - 400000 FROM id_segment'), $left,
    'allocated - issued = what is left in the buffers');
is($coordinator->safe_psql('postgres', q{SELECT count(DISTINCT split_part(proc, ':', 1))
    FROM segment_log}), 4, 'the log tells the servers apart');

# The connection is to be seen, too, while the worker is there.
$members[0]->safe_psql('postgres', q{SELECT snowflake_next(), segment_alloc('order')});
is($members[0]->safe_psql('postgres', qq{SELECT coordinator ~ 'port @{[$coordinator->port]}\$',
    coordinator_since < now(), coordinator_error IS NULL FROM $_}), 't|t|t', "$_ shows it")
    foreach 'segment_status', 'snowflake_status';

$_->stop foreach @members, $coordinator;
done_testing();

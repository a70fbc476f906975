# Where the table is copied to, numbers go on above all that were issued before
# the copy: a promoted standby, a restored dump, a subscriber. A standby has none.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = idgen_node('primary', allows_streaming => 'logical');
add_tag($primary, 'order', 100);
$primary->safe_psql('postgres', q{
    CREATE ROLE regress_idgen_owner LOGIN;
    CREATE TABLE item (id bigint PRIMARY KEY DEFAULT segment_next('order'), n int);
    INSERT INTO item (n) SELECT generate_series(1, 160)});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
my $last = take($primary, 'order', 1);
$primary->wait_for_catchup($standby);
foreach my $call (q{segment_next('order')}, q{segment_alloc('order')}, q{segment_set('order', 5)},
    q{segment_next('missing')})
{
    is(sqlstate_of($standby, "SELECT $call"), '25006', "on a standby: $call");
}
is(sqlstate_of($primary, qq{BEGIN READ ONLY; SELECT segment_next('order')}), '25006',
    'and in a read-only transaction');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM segment_status'), 0,
    'a standby shows no buffers');
is(worker_pid($standby, 'postgres'), '', 'and starts no worker');
$standby->promote;
cmp_ok(take($standby, 'order', 1), '>', $last, 'promoted, it goes on above');

# Dump and restore: by a superuser all of it; by an owner the data.
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
sub restore
{
    my ($database, @option) = @_;
    return $standby->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-1', '-f', $dump,
            '-d', $standby->connstr($database), @option ], "restore into $database");
}
$standby->command_ok([ 'pg_dump', '-f', $dump, '-d', $standby->connstr('postgres') ], 'pg_dump');
$last = take($standby, 'order', 1);
$standby->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE template0');
restore('copy');
cmp_ok(take($standby, 'order', 1, db => 'copy'), '>=', $last,
    'the copy begins above what was issued at the dump');
is($standby->safe_psql('copy', q{INSERT INTO item (n) SELECT generate_series(1, 200);
    SELECT count(*), count(DISTINCT id) FROM item; SELECT count(*) FROM segment_overlap}),
    "360|360\n0", 'its table goes on by default');

# As an owner who is no superuser, in one transaction; the extension is there.
$standby->command_ok([ 'pg_dump', '-f', $dump, '-U', 'regress_idgen_owner', '--data-only',
    '--table=id_segment', '--table=segment_log', '-d', $standby->connstr('postgres') ],
    'pg_dump by an ordinary role');
$standby->safe_psql('postgres', 'CREATE DATABASE owned OWNER regress_idgen_owner');
$standby->safe_psql('owned', 'CREATE EXTENSION idgen;
    GRANT INSERT ON id_segment, segment_log TO regress_idgen_owner;
    GRANT EXECUTE ON FUNCTION segment_next(text) TO regress_idgen_owner');
restore('owned', '-U', 'regress_idgen_owner');
cmp_ok($standby->safe_psql('owned', q{SELECT segment_next('order')},
    extra_params => [ '-U', 'regress_idgen_owner' ]), '>=', $last, 'and issues numbers');
$standby->stop;

# A subscription to all tables, from a publisher that is behind.
my $subscriber = idgen_node('subscriber', allows_streaming => 'logical');
$subscriber->safe_psql('postgres', 'CREATE TABLE item (id bigint PRIMARY KEY, n int)');
add_tag($subscriber, 'order', 100);
$subscriber->safe_psql('postgres', q{SELECT segment_set('order', 5001)});
is(take($subscriber, 'order', 60), 5060, 'the subscriber is far ahead');
$primary->safe_psql('postgres', 'CREATE PUBLICATION everything FOR ALL TABLES');
my $from = $primary->connstr('postgres');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION everything CONNECTION \$\$$from\$\$
    PUBLICATION everything WITH (copy_data = false)");
sub caught_up
{
    $primary->wait_for_catchup('everything');
    return;
}
caught_up();
$primary->safe_psql('postgres', q{INSERT INTO item (n) SELECT generate_series(1, 500)});
caught_up();
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM item'), 500,
    'rows come, and with them a lower max_id');
cmp_ok($subscriber->safe_psql('postgres', 'SELECT max_id FROM id_segment'), '>=', 5100,
    '... which lowers nothing');
cmp_ok(take($subscriber, 'order', 60), '>', 5060, 'numbers go on above');
$primary->safe_psql('postgres', q{INSERT INTO item (n) SELECT generate_series(1, 500)});
caught_up();
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM item'), 1000,
    'and the subscription goes on');

$subscriber->stop;
$primary->stop;
done_testing();

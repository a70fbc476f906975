# Three servers on one coordinator, whose rows logical replication brings into one table
# of a fourth, keyed by Snowflake, by segment and by uuidv7_mono(): no key comes twice.
# Servers that each draw from themselves are the proof that it could.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

local $PostgreSQL::Test::Utils::timeout_default = 60;
# The fourth is where the coordinator is, too: to it this makes no difference.
my $hub = fleet_coordinator('hub', conf => "wal_retrieve_retry_interval = 100ms\n"
    . "max_worker_processes = 20\nmax_logical_replication_workers = 12\n");
add_tag($hub, 'order', 20);
my @members = map { fleet_member("member$_", [$hub], allows_streaming => 'logical') } 1 .. 3;
foreach my $server ($hub, @members)
{
    $server->safe_psql('postgres', q{
        CREATE TABLE by_snowflake (id bigint PRIMARY KEY DEFAULT snowflake_next(), origin text, n int);
        CREATE TABLE by_segment (id bigint PRIMARY KEY DEFAULT segment_next('order'), origin text, n int);
        CREATE TABLE by_uuid (id uuid PRIMARY KEY DEFAULT uuidv7_mono(), origin text, n int);
        CREATE TABLE negative (id bigint PRIMARY KEY DEFAULT segment_next('negative'), origin text)});
}
my @tables = qw(by_snowflake by_segment by_uuid);

# Transactions of several rows, some rolled back, on all servers at once.
sub load
{
    my ($name) = @_;
    my $inserts = join ' ', map { "INSERT INTO $_ (origin, n) SELECT '$name', i FROM generate_series(1, 7) i;" } @tables;
    return join ' ', map { "BEGIN; $inserts " . ($_ % 5 == 0 ? 'ROLLBACK;' : 'COMMIT;') } 1 .. 50;
}
sub everybody_inserts
{
    my @sessions = map { my $server = $_; map { psql_start($server, 'load', load($server->name)) } 1 .. 2 } @members;
    foreach (@sessions)
    {
        my ($rc, $out, $err) = psql_finish($_);
        is("$rc$err", '0', 'a session inserts');
    }
    return;
}

everybody_inserts();
foreach my $server (@members)
{
    $server->safe_psql('postgres', 'CREATE PUBLICATION rows FOR TABLE ' . join ', ', @tables);
    subscribe($hub, $server, 'from_' . $server->name, 'rows');
}
$hub->wait_for_subscription_sync($_, 'from_' . $_->name) foreach @members;
everybody_inserts();
$_->wait_for_catchup('from_' . $_->name) foreach @members;
foreach my $table (@tables)
{
    is($hub->safe_psql('postgres', "SELECT origin, count(*) FROM $table GROUP BY 1 ORDER BY 1"),
        join("\n", map { $_->name . '|1120' } @members), "$table: all rows of all servers are there");
}
is(apply_errors($hub), 0, 'no conflict');
is($hub->safe_psql('postgres', 'SELECT count(DISTINCT (snowflake_node(id), origin)) || \' \' ||
    count(DISTINCT snowflake_node(id)) FROM by_snowflake'), '3 3', 'each server had a node');
is($hub->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0, 'no blocks overlap');

# The same without a coordinator.
foreach my $server (@members[0, 1])
{
    reconfigure($server, 'idgen.coordinator' => '');
    add_tag($server, 'negative', 20);
    $server->safe_psql('postgres', 'CREATE PUBLICATION negative FOR TABLE negative');
    comes_to($server, "INSERT INTO negative (origin) VALUES ('" . $server->name . "') RETURNING id",
        qr/^1$/, 'it draws from itself');
    subscribe($hub, $server, 'negative_' . $server->name, 'negative', with => 'copy_data = false');
}
my ($first, $second) = @members;
my $insert = q{INSERT INTO negative (origin) SELECT 'here' FROM generate_series(1, 50)};
$_->safe_psql('postgres', $insert) foreach $first, $second;
ok($hub->poll_query_until('postgres', 'SELECT sum(apply_error_count) > 0 FROM pg_stat_subscription_stats'),
    'servers that draw from themselves: a row cannot be applied');
like(slurp_file($hub->logfile), qr/(duplicate key value violates unique constraint|conflict detected.*) "?.*negative/,
    '... since its key is there already');
is($hub->safe_psql('postgres', 'SELECT count(*) FROM negative'), 50, '... and those of one are missing');

$_->stop('immediate') foreach $hub, @members;
done_testing();

# Two primaries that replicate to each other, both on one coordinator: both insert with
# defaults at once, and both end with all rows.
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
my $coordinator = fleet_coordinator('coordinator');
add_tag($coordinator, 'order', 20);
my ($east, $west) = map { fleet_member($_, [$coordinator], allows_streaming => 'logical',
    conf => "wal_retrieve_retry_interval = 100ms\n") } 'east', 'west';
# Before 16 a subscription would send back what it brought: there each server's rows are
# in a table of its own, of which the other has a copy, and one view shows both.
my $one_table = $east->pg_version >= 16;
my %other = (east => $west, west => $east);
foreach my $node ($east, $west)
{
    my $columns = q{id bigint PRIMARY KEY DEFAULT segment_next('order'),
        flake bigint NOT NULL UNIQUE DEFAULT snowflake_next(),
        stamp uuid NOT NULL UNIQUE DEFAULT uuidv7_mono(), origin text, n int};
    $node->safe_psql('postgres', "CREATE TABLE item_east ($columns); CREATE TABLE item_west ($columns);
        CREATE TABLE item ($columns)");
    $node->safe_psql('postgres', 'CREATE PUBLICATION rows FOR TABLE '
        . ($one_table ? 'item' : 'item_' . $node->name));
}
sub table_of
{
    my ($node) = @_;
    return $one_table ? 'item' : 'item_' . $node->name;
}
subscribe($other{ $_->name }, $_, 'from_' . $_->name, 'rows',
    with => 'copy_data = false' . ($one_table ? ', origin = none' : '')) foreach $east, $west;
$_->wait_for_catchup('from_' . $_->name) foreach $east, $west;

my @sessions = map {
    my ($node, $table, $name) = ($_, table_of($_), $_->name);
    map { psql_start($node, 'load', "INSERT INTO $table (origin, n) SELECT '$name', i FROM generate_series(1, 5) i;" x 100) } 1 .. 2;
} $east, $west;
foreach (@sessions)
{
    my ($rc, $out, $err) = psql_finish($_);
    is("$rc$err", '0', 'a session inserts');
}
$_->wait_for_catchup('from_' . $_->name) foreach $east, $west;
my $rows = 'SELECT * FROM item UNION ALL SELECT * FROM item_east UNION ALL SELECT * FROM item_west';
is($_->safe_psql('postgres', "SELECT origin, count(*), count(DISTINCT id) FROM ($rows) r GROUP BY 1 ORDER BY 1"),
    "east|1000|1000\nwest|1000|1000", $_->name . ' has all rows of both') foreach $east, $west;
is($east->safe_psql('postgres', "SELECT * FROM ($rows) r ORDER BY id, flake"),
    $west->safe_psql('postgres', "SELECT * FROM ($rows) r ORDER BY id, flake"), 'the same ones');
is($_->safe_psql('postgres', "SELECT count(*), count(DISTINCT id), count(DISTINCT flake), count(DISTINCT stamp) FROM ($rows) r"),
    '2000|2000|2000|2000', $_->name . ': no key of any kind twice') foreach $east, $west;
is(apply_errors($_), 0, $_->name . ': no conflict') foreach $east, $west;
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0, 'no blocks overlap');

$_->stop('immediate') foreach $east, $west, $coordinator;
done_testing();

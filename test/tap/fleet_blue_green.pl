# A blue/green upgrade by logical replication of all tables, idgen's own among them, with
# ids in use on the old server until the switch: replication never stops, and the new
# server goes on above all that the old one issued.
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
my ($blue, $green) = map { idgen_node($_, allows_streaming => 'logical',
    conf => "cluster_name = '$_'\nwal_retrieve_retry_interval = 100ms\n") } 'blue', 'green';
my $item = q{CREATE TABLE item (id bigint PRIMARY KEY DEFAULT segment_next('order'),
    flake bigint NOT NULL UNIQUE DEFAULT snowflake_next(), origin text)};
$_->safe_psql('postgres', $item) foreach $blue, $green;
add_tag($blue, 'order', 10);
add_tag($blue, 'quiet', 10);
my @seen; # what clients were given, committed or not

sub insert
{
    my ($node, $count, $end) = @_;
    push @seen, split /\n/, $node->safe_psql('postgres', "BEGIN; INSERT INTO item (origin)
        SELECT '${\$node->name}' FROM generate_series(1, $count) RETURNING id || ' ' || flake; $end");
    return;
}
sub ids
{
    my ($from, $column) = @_;
    return map { (split / /)[$column] } @seen[ $from .. $#seen ];
}

insert($blue, 55, 'COMMIT');
my $quiet = take($blue, 'quiet', 3);
$blue->safe_psql('postgres', 'CREATE PUBLICATION upgrade FOR ALL TABLES');
subscribe($green, $blue, 'upgrade', 'upgrade');
$green->wait_for_subscription_sync($blue, 'upgrade');
is($green->safe_psql('postgres', 'SELECT count(*) FROM item'), 55, 'the rows so far are copied');
is($green->safe_psql('postgres', q{SELECT biz_tag, max_id FROM id_segment ORDER BY 1}),
    $blue->safe_psql('postgres', q{SELECT biz_tag, max_id FROM id_segment ORDER BY 1}), '... and the tags');
is($green->safe_psql('postgres', 'SELECT count(*) FROM node_lease'), 0, '... but no lease');

# Somebody tries the new server out, whose block the old one then runs over.
my $tried = take($green, 'order', 1);
cmp_ok($tried, '>', 100 * 10, 'a first number of the new server is far above');
my $stays = $green->background_psql('postgres', on_error_stop => 1);
$stays->query(q{SELECT segment_next('order'), snowflake_next()});

# Both tags, transactions that roll back, a changed step, and a tag that is new.
insert($blue, 40, $_ % 4 == 0 ? 'ROLLBACK' : 'COMMIT') foreach 1 .. 20;
$blue->safe_psql('postgres', q{UPDATE id_segment SET step = 30 WHERE biz_tag = 'order';
    INSERT INTO id_segment (biz_tag) VALUES ('late'); INSERT INTO id_segment (biz_tag) VALUES ('gone');
    DELETE FROM id_segment WHERE biz_tag = 'gone'});
my $late = take($blue, 'late', 5);
insert($blue, 40, 'COMMIT') foreach 1 .. 20;
my ($greatest) = sort { $b <=> $a } ids(0, 0);
cmp_ok($greatest, '>', $tried, 'the old one has come by there');

# The switch, as soon as everything is over.
$blue->wait_for_catchup('upgrade');
is(apply_errors($green), 0, 'the subscription never stopped');
my $rows = 'SELECT count(*), sum(id), sum(flake) FROM item';
is($green->safe_psql('postgres', $rows), $blue->safe_psql('postgres', $rows), 'all rows are there');
my $before = @seen;
push @seen, map { tr/|/ /r } split /\n/,
    $stays->query(q{INSERT INTO item (origin) SELECT 'green' FROM generate_series(1, 5) RETURNING id, flake});
insert($green, 40, 'COMMIT') foreach 1 .. 10;
$stays->quit;
foreach my $column (0, 1)
{
    my ($top) = sort { $b <=> $a } map { (split / /)[$column] } @seen[ 0 .. $before - 1 ];
    my ($least) = sort { $a <=> $b } ids($before, $column);
    cmp_ok($least, '>', $top, ($column ? 'Snowflake ids' : 'numbers') . ' go on above all of the old server');
    is(twice_in(ids(0, $column)), 0, '... and none comes twice, of ' . @seen);
}
cmp_ok(take($green, 'quiet', 1), '>', $quiet, 'a tag that nobody used meanwhile goes on above');
cmp_ok(take($green, 'late', 1), '>', $late, 'as does one that was made meanwhile');
is($green->safe_psql('postgres', q{SELECT step FROM id_segment WHERE biz_tag = 'order'}), 30, 'the step has come over');
is($green->safe_psql('postgres', q{SELECT count(*) FROM id_segment WHERE biz_tag = 'gone'}), 0, '... and what was deleted');

# The old one ends; the new one is alone.
$blue->stop('immediate');
$green->safe_psql('postgres', q{ALTER SUBSCRIPTION upgrade DISABLE;
    ALTER SUBSCRIPTION upgrade SET (slot_name = NONE); DROP SUBSCRIPTION upgrade});
insert($green, 200, 'COMMIT');
is(twice_in(ids(0, 0)) + twice_in(ids(0, 1)), 0, 'none twice after it either');
$green->stop;
done_testing();

# Thirty-two servers that ask a coordinator at once, as the role that they have there:
# each leases a node of its own at its first try, and no two blocks overlap.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use FleetTest;
use IdgenTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant SERVERS => 32;

my $coordinator = fleet_coordinator('coordinator');
add_tag($coordinator, "tag$_", 10) foreach 1 .. 3;
# For longer than all of this takes.
$coordinator->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (3600000)');

# All of them are let go at one moment: by a lock that they wait for.
my $gate = 'SELECT pg_advisory_lock_shared(1)';
my $directory = PostgreSQL::Test::Utils::tempdir;
sub at_once
{
    my ($name, $sql) = @_;
    my $holder = psql_start($coordinator, 'gate', 'SELECT pg_advisory_lock(1); SELECT pg_sleep(1000)');
    waits_for($coordinator, 'gate', q{'PgSleep'}) or die 'the gate is open';
    my @servers = map {
        my %server = (out => '', err => '');
        my $statements = "$directory/$name.$_";
        append_to_file($statements, "\\set ON_ERROR_STOP on\n$gate \\g /dev/null\n" . $sql->($_));
        $server{run} = IPC::Run::start([ 'psql', '-XAtq', '-f', $statements, '-d',
            $coordinator->connstr('postgres') . ' user=idgen_fleet application_name=server' ],
            '>', \$server{out}, '2>', \$server{err});
        \%server
    } 1 .. SERVERS;
    waits_for($coordinator, 'server', q{'advisory'}, SERVERS) or die 'a server does not come';
    $coordinator->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'gate'});
    psql_finish($holder);
    return map { [ psql_finish($_) ] } @servers;
}

# The first lease of all, and then one each.
sub lease_of
{
    my ($server) = @_;
    return "SELECT node || ' ' || coalesce(sqlstate || message, 'leased') FROM coordinator_lease('take',
        md5('$server')::uuid, 'server$server', -1, 0, 0, 0);\n";
}
is($coordinator->safe_psql('postgres', lease_of(0)), '0 leased', 'the first lease');
my @answers = at_once('lease', \&lease_of);
my @nodes = map { $_->[1] =~ /^(\d+) leased$/ } @answers;
is(join("\n", map { $_->[2] . $_->[1] } grep { $_->[1] !~ / leased$/ } @answers), '',
    'nodes are claimed at once: each server gets one at its first try');
is(scalar(@nodes) . '|' . twice_in(0, @nodes), SERVERS . '|0', '... of its own');
is($coordinator->safe_psql('postgres', 'SELECT count(DISTINCT holder), count(*), max(epoch), max(node_id)
    FROM node_lease WHERE leased_until > clock_timestamp()'), '33|33|1|32', 'so says the table, which has no hole');

# Blocks: what is locked is asked for again, as workers do.
my $rounds = 20;
my @results = at_once('blocks', sub {
    my ($server) = @_;
    return qq{SELECT biz_tag, start_id, end_id, sqlstate FROM unnest('{tag1,tag2,tag3}'::text[])
        WITH ORDINALITY AS t (biz_tag, n) JOIN coordinator_reserve('{tag1,tag2,tag3}', '{block,alloc,block}',
        '{1,7,25}', 'server$server') WITH ORDINALITY AS r ON r.ordinality = t.n;\n} x $rounds });
is(join('', map { $_->[2] } @results), '', 'blocks are claimed at once: no call fails');
my @rows = map { [ split /\|/, $_, -1 ] } map { split /\n/, $_->[1] } @results;
is(scalar(@rows), 3 * $rounds * SERVERS, 'each demand is answered');
is(scalar(grep { $_->[3] ne '' && $_->[3] ne '55P03' } @rows), 0, '... with a block, or by that the tag is locked');
my @blocks = grep { $_->[3] eq '' } @rows;
my $twice = 0;
foreach my $tag ('tag1', 'tag2', 'tag3')
{
    my $end = 0;
    foreach my $block (sort { $a->[1] <=> $b->[1] } grep { $_->[0] eq $tag } @blocks)
    {
        $twice++ if $block->[1] <= $end;
        $end = $block->[2];
    }
    is($coordinator->safe_psql('postgres', "SELECT max_id FROM id_segment WHERE biz_tag = '$tag'"), $end,
        "$tag ends where the last block does");
}
is($twice, 0, scalar(@blocks) . ' blocks, none overlaps another');
is($coordinator->safe_psql('postgres', 'SELECT count(*), (SELECT count(*) FROM segment_overlap) FROM segment_log'),
    scalar(@blocks) . '|0', 'so says the log');
$coordinator->stop;
done_testing();

# Two servers from one data directory, both alive, on one coordinator: nothing tells them
# apart but what each draws at its start, and no id of any kind comes twice.
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
add_tag($coordinator, 'order', 50);
my $original = fleet_member('member', [$coordinator], allows_streaming => 1);
my $ids = q{SELECT segment_next('order'), snowflake_next(), uuidv7_mono()
    FROM generate_series(1, 2000)};
my %seen = map { $_ => [] } qw(segment snowflake uuid);
my %falling;

sub note_ids
{
    my ($rows) = @_;
    my %last = (segment => 0, snowflake => 0, uuid => '');
    foreach my $row (split /\n/, $rows)
    {
        my %id;
        @id{qw(segment snowflake uuid)} = split /\|/, $row;
        push @{ $seen{$_} }, $id{$_} foreach keys %id;
        $falling{$_} += $_ eq 'uuid' ? $id{$_} le $last{$_} : $id{$_} <= $last{$_} foreach keys %id;
        %last = %id;
    }
    return;
}

# One that was stopped, and one that was killed and so has to recover.
note_ids($original->safe_psql('postgres', $ids));
$original->stop;
$original->backup_fs_cold('stopped');
$original->start;
note_ids($original->safe_psql('postgres', $ids));
crash_postmaster($original);
$original->backup_fs_cold('killed');
$original->start;
my @servers = ($original);
foreach my $backup ('stopped', 'killed')
{
    my $copy = PostgreSQL::Test::Cluster->new($backup);
    $copy->init_from_backup($original, $backup);
    unlink $copy->data_dir . '/postmaster.pid';
    $copy->start;
    push @servers, $copy;
}
my $identity = q{SELECT system_identifier || ' ' || timeline_id
    FROM pg_control_system(), pg_control_checkpoint()};
is(scalar(keys %{ { map { $_->safe_psql('postgres', $identity) => 1 } @servers } }), 1,
    'three servers with one system identifier and timeline');

my @sessions = map { my $server = $_; map { psql_start($server, "load$_", $ids) } 1 .. 2 } @servers;
foreach my $session (@sessions)
{
    my ($rc, $out, $err) = psql_finish($session);
    is("$rc$err", '0', 'a session of 2000 ids of each kind');
    note_ids($out);
}
my $node = 'SELECT node FROM snowflake_status';
my $holder = 'SELECT holder FROM snowflake_status';
is(twice_in(map { $_->safe_psql('postgres', $node) } @servers), 0, 'each has a node of its own');
is(twice_in(map { $_->safe_psql('postgres', $holder) } @servers), 0, '... as another holder');
my $block = q{SELECT block_start FROM segment_status WHERE biz_tag = 'order'};
is(twice_in(map { $_->safe_psql('postgres', $block) } @servers), 0, 'each has a block of its own');
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0, 'no blocks overlap');
foreach my $kind (sort keys %seen)
{
    is(twice_in(@{ $seen{$kind} }), 0, scalar(@{ $seen{$kind} }) . " of $kind: none twice");
    is($falling{$kind}, 0, '... and each session rises');
}

# The copy that is stopped, or killed, takes nothing of the others with it.
$servers[1]->stop;
$servers[2]->stop('immediate');
note_ids($original->safe_psql('postgres', $ids));
is(twice_in(@{ $seen{snowflake} }), 0, 'the others gone, it goes on');
is($original->safe_psql('postgres', $node), $coordinator->safe_psql('postgres',
    "SELECT node_id FROM node_lease WHERE leased_until > clock_timestamp() AND holder = '"
    . $original->safe_psql('postgres', $holder) . q{'}), '... with a lease that is its own');
$_->stop foreach $original, $coordinator;
done_testing();

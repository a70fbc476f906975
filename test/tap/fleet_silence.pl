# A coordinator that is silent: it takes connections and says nothing. No caller waits
# for it to go on, the databases of the server can be dropped meanwhile, and afterwards
# all is well.
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
add_tag($coordinator, 'order', 10);
$coordinator->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (2000)');
my $member = fleet_member('member', [$coordinator], conf => "idgen.timeout = '3s'\n");
$member->safe_psql('postgres', 'CREATE DATABASE wanted');
$member->safe_psql('wanted', 'CREATE EXTENSION idgen');
take($member, 'order', 6);
take($member, 'order', 1, db => 'wanted');
next_landed($member, 'order');
$member->safe_psql('postgres', 'SELECT snowflake_next()');

my @stopped = stop_server($coordinator);
my @buffered = split /\n/, $member->safe_psql('postgres', q{SELECT segment_next('order')
    FROM generate_series(1, (SELECT block_end - next_id + 1 + next_block_end
        - next_block_start + 1 FROM segment_status))});
is(scalar @buffered, 14, 'the buffer carries on');

# Eight sessions at once. That they end while the coordinator stands is the point.
my @sessions = map { psql_start($member, "caller$_", q{SELECT segment_next('order')}) } 1 .. 8;
my $pid = worker_pid($member, 'postgres');
foreach my $session (@sessions)
{
    my ($rc, $out, $err) = psql_finish($session);
    isnt($rc, 0, 'a caller has an error');
    is($out, '', '... and no number');
    like($err, qr/ERROR:  .*(coordinator of idgen does not answer|no numbers came)/,
        '... which says why');
}
ok($member->poll_query_until('postgres', 'SELECT NOT leased FROM snowflake_status'),
    'the lease ends');
my $state = sqlstate_of($member, 'SELECT snowflake_next()');
like($state, qr/^(08006|55000)$/, '... and ids are refused, too');

# A worker in the midst of its wait leaves a database that somebody wants.
$member->psql('wanted', q{SET idgen.timeout = 1; SELECT segment_next('order')
    FROM generate_series(1, 20)});
my ($rc, $out, $err) = $member->psql('postgres', 'DROP DATABASE wanted');
is($rc, 0, 'its database can be dropped') or diag $err;

go_on(@stopped);
my $next = insist_on($member, q{SELECT segment_next('order')});
cmp_ok($next, '>', $buffered[-1], 'when it goes on, numbers go on');
insist_on($member, 'SELECT snowflake_next()');
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');
ok($coordinator->poll_query_until('postgres', q{SELECT count(*) <= 2 FROM pg_stat_activity
    WHERE usename = 'idgen_fleet'}), 'no connection is left behind but those in use');

# A silent host before one that answers.
my $other = fleet_coordinator('other');
add_tag($other, 'order', 10);
@stopped = stop_server($coordinator);
reconfigure($member, 'idgen.coordinator' => draws_from($coordinator, $other));
is(insist_on($member, q{SELECT segment_next('order')}), 1, 'a silent host hides no other');
go_on(@stopped);

$_->stop foreach $member, $coordinator, $other;
done_testing();

# The coordinator dies and comes back: a server goes on from its buffer, then it has
# errors and makes up nothing, then it goes on above all that it had.
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
add_tag($coordinator, 'order', 500);
$coordinator->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (3000)');
my $member = fleet_member('member', [$coordinator]);
is(take($member, 'order', 300), 300, 'numbers are there');
next_landed($member, 'order');
my @lists = ([ 1 .. 300 ]);
my @ids = (insist_on($member, 'SELECT snowflake_next()'));

crash_postmaster($coordinator);
my (%errors, @numbers);
foreach (1 .. 710)
{
    my ($rc, $out, $err) = $member->psql('postgres',
        "\\set VERBOSITY sqlstate\nSELECT segment_next('order')");
    push @numbers, $out if $rc == 0;
    $errors{$1}++ if $rc != 0 && $err =~ /ERROR:  (\w+)/;
}
is_deeply(\@numbers, [ 301 .. 1000 ], 'the buffer carries on to its end');
is_deeply(\%errors, { '08006' => 10 }, '... then come errors, and only those');
push @lists, \@numbers;
my ($rc, $out, $err) = $member->psql('postgres', "SELECT segment_next('order')");
like($err, qr/the coordinator of idgen does not answer.*DETAIL:.*HINT:/s, '... that say why');
like($member->safe_psql('postgres', 'SELECT coordinator_error FROM segment_status'), qr/\w/,
    '... as does segment_status');

# The lease carries on, too, up to its end.
ok($member->poll_query_until('postgres', 'SELECT NOT leased FROM snowflake_status'),
    'the lease ends meanwhile');
is(sqlstate_of($member, 'SELECT snowflake_next()'), '08006', '... and ids are refused as well');

$coordinator->start;
push @lists, [ split /\n/, insist_on($member,
    "SELECT segment_next('order') FROM generate_series(1, 1000)") ];
push @ids, insist_on($member, 'SELECT snowflake_next()');
is(repeats(@lists), '0|0', 'after recovery no number comes twice');
cmp_ok($lists[-1][0], '>', 1000, '... and all lie above those before');
cmp_ok($ids[1], '>', $ids[0], '... as do ids');
is($member->safe_psql('postgres', 'SELECT coordinator_error FROM segment_status'), '',
    'the error is gone');
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM segment_overlap'), 0,
    'no blocks overlap');

$_->stop foreach $member, $coordinator;
done_testing();

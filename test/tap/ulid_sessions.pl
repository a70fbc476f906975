# ULIDs of many sessions at once: they rise, and within a millisecond the tails of
# all of them together step by one, without a gap and without one twice, while a
# session stands still in the middle of a call; after a kill -9 they go on.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "restart_after_crash = on\n");
my $directory = PostgreSQL::Test::Utils::tempdir;

# To files: a session stopped in a table may hold a lock of core's.
sub issue
{
    my ($name, $count, $every) = @_;
    return psql_start($node, $name, qq{
        COPY (SELECT '$name', n, id FROM (SELECT n, ulid_next() AS id
                  FROM generate_series(1, $count) AS n OFFSET 0) s
              WHERE n % $every = 0) TO '$directory/$name'});
}

my $stopped = issue('stopped', 40_000_000, 400_000);
my $pid = busy_pid($node, 'stopped');
is(kill('STOP', $pid), 1, 'one session is stopped in the middle');

# The clock stands for these, so that steps over all sessions are seen for sure.
$node->safe_psql('postgres', q{SELECT idgen_shift_clock('-1 hour')});
my @names = map { "free_$_" } 1 .. 4;
my @sessions = map { issue($_, 100_000, 1) } @names;
is(scalar(grep { (psql_finish($_))[0] != 0 } @sessions), 0, 'the others go on meanwhile');
$node->safe_psql('postgres', q{
    CREATE TABLE ids (session text, n int, id uuid);
    CREATE FUNCTION tail(id uuid) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
        SELECT ('x' || substr(hex, 13, 8))::bit(32)::bigint * 2 ^ 48::numeric +
               ('x' || substr(hex, 21, 12))::bit(48)::bigint
        FROM (SELECT replace(id::text, '-', '') AS hex) s $$});
$node->safe_psql('postgres', "COPY ids FROM '$directory/$_'") foreach @names;
is(not_rising($node, 'ids', 'n', per => 'session'), '0|0',
    'ids rise in each session, none comes twice');
my $steps = q{SELECT count(*) FILTER (WHERE at = previous_at AND step <> 1),
        count(*) FILTER (WHERE at = previous_at) > 390000
    FROM (SELECT ulid_time(id) AS at, lag(ulid_time(id)) OVER w AS previous_at,
                 tail(id) - lag(tail(id)) OVER w AS step
          FROM ids WINDOW w AS (ORDER BY id)) s};
is($node->safe_psql('postgres', $steps), '0|t', 'the tails of all step by one');
is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM (SELECT session,
        lag(session) OVER (ORDER BY id) AS previous FROM ids) s WHERE session <> previous}),
    't', '... and sessions took turns');
$node->safe_psql('postgres', 'DELETE FROM ids WHERE n = 500');
is($node->safe_psql('postgres', $steps) =~ /^0\|/ ? 'missed' : 'found', 'found',
    'negative: the same check finds ids that are gone');

$node->safe_psql('postgres', q{SELECT idgen_shift_clock('0')});
kill 'CONT', $pid;
is((psql_finish($stopped))[0], 0, 'the stopped session goes on, too');
$node->safe_psql('postgres', qq{TRUNCATE ids; COPY ids FROM '$directory/stopped'});
is(not_rising($node, 'ids', 'n'), '0|0', 'its ids rise');

my $last = $node->safe_psql('postgres', 'SELECT ulid_next()');
my $busy = issue('busy', 100_000_000, 1_000_000);
kill 'KILL', busy_pid($node, 'busy');
isnt((psql_finish($busy))[0], 0, 'a session is killed');
$node->poll_query_until('postgres', 'SELECT true');
cmp_ok($node->safe_psql('postgres', 'SELECT ulid_next()'), 'gt', $last,
    'after kill -9 of a session ids are greater');
crash_postmaster($node);
$node->start;
cmp_ok($node->safe_psql('postgres', 'SELECT ulid_next()'), 'gt', $last,
    'after kill -9 of the postmaster, too');

$node->stop;
done_testing();

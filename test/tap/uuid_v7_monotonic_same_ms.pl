# Eight sessions at once: ids rise strictly in each session and, by the order of
# the calls, over all of them; a stopped session holds nobody up.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main');
$node->safe_psql('postgres', q{
    CREATE SEQUENCE call_order;
    CREATE TABLE called (n bigint, session int, id uuid);
    CREATE TABLE called_wrong (n bigint, session int, id uuid);
    CREATE TABLE free (session int, n bigint, id uuid);});

# The call's place and the id are taken under one lock.
my $taken = q{
    BEGIN;
    SELECT pg_advisory_xact_lock(1);
    INSERT INTO %s SELECT nextval('call_order'), pg_backend_pid(), %s
    FROM generate_series(1, 10);
    COMMIT;
};
my @load = ('--client=8', '--jobs=2', '--no-vacuum', '--transactions=500');
$node->pgbench(join(' ', @load), 0, [qr{processed: 4000/4000}], [qr{^$}],
    'eight sessions, each call noted with its place',
    { called => sprintf($taken, 'called', 'uuidv7_mono()') });
is($node->safe_psql('postgres', 'SELECT count(DISTINCT session) FROM called'),
    8, 'eight sessions took part');
is(not_rising($node, 'called', 'n'), '0|0', 'call order is id order over all sessions');

# Random ids within the millisecond: what the check must find.
$node->pgbench(join(' ', @load), 0, [qr{processed: 4000/4000}], [qr{^$}],
    'the same without order',
    { wrong => sprintf($taken, 'called_wrong', 'uuidv7_at(clock_timestamp())') });
like(not_rising($node, 'called_wrong', 'n'), qr{^[1-9]\d*\|0$},
    'negative: the same check finds ids out of order');

# No lock: as fast as they can, and one of them is stopped for a while. They
# write to files, since a session stopped in a table may hold a lock of core's.
# The stopped one keeps few of many ids, to be at work long enough.
my $directory = PostgreSQL::Test::Utils::tempdir;
sub issue_much
{
    my ($name, $every) = @_;
    return psql_start($node, $name, qq{
        COPY (SELECT pg_backend_pid(), n, id
              FROM (SELECT n, uuidv7_mono() AS id
                    FROM generate_series(1, 125000 * $every) AS n OFFSET 0) s
              WHERE n % $every = 0) TO '$directory/$name'});
}
my $stopped = issue_much('stopped', 100);
my $pid = busy_pid($node, 'stopped');
is(kill('STOP', $pid), 1, 'one session is stopped in the middle');
my @names = map { "free_$_" } 1 .. 7;
my @sessions = map { issue_much($_, 1) } @names;
my @failed = grep { (psql_finish($_))[0] != 0 } @sessions;
is(scalar(@failed), 0, 'the other seven go on to their end');
kill 'CONT', $pid;
is((psql_finish($stopped))[0], 0, 'and so does the stopped one, later');
$node->safe_psql('postgres', "COPY free FROM '$directory/$_'") foreach 'stopped', @names;
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT session) FROM free'),
    '1000000|8', 'a million ids from eight sessions');
is(not_rising($node, 'free', 'n', per => 'session'), '0|0',
    'each session rises, and no id is there twice');
# The random tails would hide it if two calls got one pair of time and counter:
# the first 74 bits.
foreach my $table ('called', 'free')
{
    is($node->safe_psql('postgres', qq{
        SELECT count(*) - count(DISTINCT pair) FROM (
            SELECT left(hex, 18) || ('x' || substr(hex, 19, 1))::bit(2) AS pair
            FROM (SELECT replace(id::text, '-', '') AS hex FROM $table) h) p}),
        0, "no pair of time and counter is there twice: $table");
}
note 'most ids in one ms: ' . $node->safe_psql('postgres',
    'SELECT max(n) FROM (SELECT count(*) AS n FROM free GROUP BY uuidv7_time(id)) s');
note 'overflows of the counter: ' . $node->safe_psql('postgres',
    'SELECT counter_overflows FROM uuidv7_status');

$node->stop;
done_testing();

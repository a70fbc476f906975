# When the 41 bits of time are used up every path refuses, and no id is negative or
# begins anew; the log warns a year ahead.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "idgen.timeout = '60s'\n");
# An epoch so long ago that some seconds are left.
$node->safe_psql('postgres', q{INSERT INTO snowflake_layout (epoch_ms)
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) - 2199023255552 + 3000});
my $layout = $node->safe_psql('postgres', q{SELECT epoch_ms || ', 10, 12' FROM snowflake_layout});
is($node->safe_psql('postgres', q{SELECT snowflake_next() > 0}), 't', 'ids come to the end');
is($node->safe_psql('postgres', 'SELECT days_left FROM snowflake_status'), 0, 'the view says how near it is');
like(slurp_file($node->logfile), qr/WARNING: .*time field of Snowflake ids ends in 0 days/, '... and so does the log');

# All ids up to the end, by sessions that go on until they are refused.
$node->safe_psql('postgres', q{
    CREATE TABLE ids (n serial, id bigint);
    CREATE PROCEDURE take_all(OUT ended text) LANGUAGE plpgsql AS $$
    BEGIN
        LOOP
            INSERT INTO ids (id) SELECT snowflake_next() FROM generate_series(1, 10);
            COMMIT;
        END LOOP;
    END $$});
my @sessions = map { psql_start($node, "all$_", 'CALL take_all(NULL)') } 1 .. 4;
my @errors = map { (psql_finish($_))[2] } @sessions;
is(scalar(grep { /time field of Snowflake ids has ended/ } @errors), 4, 'then each session is refused')
    or diag join "\n", @errors;
is(not_rising($node, 'ids', 'n') =~ /^\d+\|0$/, 1, 'none twice');
is($node->safe_psql('postgres', 'SELECT count(*) FROM ids WHERE id < 0'), 0, 'none negative');
is($node->safe_psql('postgres', "SELECT max(id) <= 9223372036854775807
    AND snowflake_time(max(id), $layout) > now() - interval '1 hour' FROM ids"), 't', 'the last is of the last ms');
foreach my $how ('again', 'another worker', 'a clean restart', 'a crash')
{
    if ($how eq 'another worker')
    {
        $node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE backend_type = 'idgen lease worker'});
    }
    $node->restart if $how eq 'a clean restart';
    crash_postmaster($node), $node->start if $how eq 'a crash';
    is(sqlstate_of($node, 'SELECT snowflake_next()'), '2200H', "$how: refused");
}
is(sqlstate_of($node, 'SELECT snowflake_accept_clock()'), '2200H', 'another era has no time either');

$node->stop;
done_testing();

# The machine's clock really steps, back and ahead, while the server runs and across
# restarts: no Snowflake id comes twice, whatever node and time they have.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Not libfaketime: what a postmaster of PostgreSQL 15 forks in a signal handler, as it
# does a worker, may come out of it with the real clock.
my $directory = PostgreSQL::Test::Utils::tempdir;
my $shift = "$directory/shift";
system('cc', '-O2', '-fPIC', '-shared', '-o', "$directory/wallclock.so",
    "$FindBin::RealBin/wallclock.c") == 0 or die 'could not compile wallclock.c';
append_to_file($shift, pack 'q', 0);

# In the server, at once.
sub step_clock
{
    my ($seconds) = @_;
    open my $file, '+<:raw', $shift or die "could not open: $!";
    syswrite $file, pack 'q', $seconds * 1_000_000;
    close $file;
    return;
}

sub with_faked_clock
{
    my ($do) = @_;
    local $ENV{LD_PRELOAD} = "$directory/wallclock.so";
    local $ENV{WALLCLOCK_FILE} = $shift;
    return $do->();
}

step_clock(0);
my $node = with_faked_clock(sub { idgen_node('clock', conf => "log_statement = none\n") });
$node->safe_psql('postgres', 'CREATE TABLE ids (n serial, phase text, id bigint)');

sub take_ids
{
    my ($phase) = @_;
    return $node->psql('postgres', "\\set VERBOSITY verbose
        INSERT INTO ids (phase, id) SELECT '$phase', snowflake_next() FROM generate_series(1, 1000)");
}
sub gives
{
    my ($phase) = @_;
    my ($rc, $out, $err) = take_ids($phase);
    is($err, '', "$phase: ids come");
    return;
}
sub refuses
{
    my ($phase, $seconds) = @_;
    my ($rc, $out, $err) = take_ids($phase);
    like($err, qr/ERROR:  55000: clock is \d+ ms behind/, "$phase: refused");
    my ($distance) = $err =~ /clock is (\d+) ms behind/;
    cmp_ok(abs(($distance // 0) - 1000 * $seconds), '<', 60_000, '... with the distance');
    return;
}
sub rising
{
    my ($what) = @_;
    is(not_rising($node, 'ids', 'n'), '0|0', "$what: none twice, all rise");
    return;
}
sub leased_node
{
    return $node->safe_psql('postgres', 'SELECT node FROM snowflake_status');
}

gives('start');
step_clock(-1);
my ($rc, $out, $err) = take_ids('a second back');
like($err, qr/^$|ERROR:  55000: clock is \d+ ms behind/m, 'a second back: refused, until it has passed');
step_clock(-3600);
refuses('an hour back', 3600);
step_clock(0);
gives('right again');
rising('back and right again');

step_clock(3600);
gives('an hour ahead');
step_clock(0);
refuses('back from there', 3600);
my $before = leased_node();
is(sqlstate_of($node, 'SELECT snowflake_accept_clock()'), '00000', 'the clock is accepted');
gives('accepted');
isnt(leased_node(), $before, '... on another node');
like(slurp_file($node->logfile), qr/Snowflake times go back/, '... as the log says');
is($node->safe_psql('postgres', q{SELECT count(*) - count(DISTINCT id),
    min(id) FILTER (WHERE phase = 'accepted') < max(id) FILTER (WHERE phase = 'an hour ahead') FROM ids}),
    '0|t', '... smaller than before, none twice');

# Across restarts the last id is forgotten, not what was granted.
foreach my $how ('fast', 'immediate')
{
    step_clock(0);
    gives("before a restart, $how");
    $node->stop($how);
    step_clock(-3600);
    with_faked_clock(sub { $node->start });
    gives("an hour back over a restart, $how");
    $node->stop($how);
    step_clock(0);
    with_faked_clock(sub { $node->start });
    gives("right again after it, $how");
}
is($node->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT id) FROM ids'), 0,
    'over all restarts: none twice');

# 64 sessions that try again after every error, while the clock flaps.
$node->safe_psql('postgres', q{
    CREATE TABLE flap (n serial, id bigint, session int);
    CREATE TABLE flapping ();
    INSERT INTO flapping DEFAULT VALUES;
    CREATE PROCEDURE insist(session int) LANGUAGE plpgsql AS $$
    BEGIN
        WHILE EXISTS (SELECT FROM flapping) LOOP
            BEGIN
                INSERT INTO flap (id, session) VALUES (snowflake_next(), session);
            EXCEPTION WHEN OTHERS THEN
                IF SQLSTATE <> '55000' THEN RAISE; END IF;
            END;
            COMMIT;
            PERFORM pg_sleep(0.01);
        END LOOP;
    END $$});
my @sessions = map { psql_start($node, "flap$_", "CALL insist($_)") } 1 .. 64;
ok($node->poll_query_until('postgres', q{SELECT count(DISTINCT session) = 64 FROM flap}),
    '64 sessions are at work');
foreach my $turn (1 .. 100)
{
    step_clock($turn % 2 ? -0.1 : 0);
    select undef, undef, undef, 0.03;
}
$node->safe_psql('postgres', 'DELETE FROM flapping');
is(join(' ', map { (psql_finish($_))[0] } @sessions), join(' ', (0) x 64),
    'the clock flaps: no error but 55000');
is(not_rising($node, 'flap', 'n', per => 'session'), '0|0', '... none twice, each session rises');
cmp_ok($node->safe_psql('postgres', 'SELECT refusals + clock_waits FROM snowflake_status'), '>', 0,
    '... and it was felt');

$node->stop;
done_testing();

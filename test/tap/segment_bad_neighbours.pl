# What is wrong with one tag, or one session, holds up no other: a tag that is
# exhausted, locked, poisoned or deleted, a stopped session, a full slot table.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "log_statement = none\nidgen.timeout = '60s'\n");
$node->safe_psql('postgres', q{
    INSERT INTO id_segment (biz_tag, step, max_id) VALUES
        ('good', 5, 0), ('exhausted', 100, 9223372036854775807), ('locked', 5, 0),
        ('poisoned', 5, 0), ('suppressed', 5, 0), ('changed', 5, 0), ('late', 5, 0);
    CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NEW.biz_tag = 'poisoned' THEN
            RAISE EXCEPTION 'a trigger says no' USING ERRCODE = 'ZX001';
        ELSIF NEW.biz_tag = 'late' THEN
            RAISE EXCEPTION 'a deferred trigger does not even run';
        ELSIF NEW.biz_tag = 'suppressed' THEN
            RETURN NULL;
        ELSIF NEW.biz_tag = 'changed' THEN
            NEW.max_id := NEW.max_id + 1;
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER poison BEFORE UPDATE ON id_segment
        FOR EACH ROW WHEN (NEW.biz_tag <> 'late') EXECUTE FUNCTION poison();
    CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON id_segment
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.biz_tag = 'late')
        EXECUTE FUNCTION poison()});

# One holds a row; eight clients of each bad tag ask for it again and again,
# while eight others take good numbers.
my $holder = psql_start($node, 'holder', q{BEGIN;
    SELECT 1 FROM id_segment WHERE biz_tag = 'locked' FOR UPDATE; SELECT pg_sleep(1000)});
waits_for($node, 'holder', "'PgSleep'");
my %expected = (exhausted => '2200H', poisoned => 'ZX001', late => '42501',
    suppressed => '55000', changed => '55000', missing => '02000');
my @bad = map { psql_start($node, 'bad', qq{DO \$\$ DECLARE state text; BEGIN
    LOOP
        BEGIN
            PERFORM segment_next('$_');
            RAISE EXCEPTION 'a number of $_';
        EXCEPTION WHEN OTHERS THEN
            IF SQLSTATE <> '$expected{$_}' THEN RAISE; END IF;
        END;
    END LOOP; END \$\$}) } sort keys %expected;
my $waiting = psql_start($node, 'waiting', q{SELECT segment_next('locked')});
busy_pid($node, 'waiting');
$node->safe_psql('postgres', 'CREATE TABLE good (id bigint PRIMARY KEY)');
$node->pgbench('--client=8 --jobs=2 --no-vacuum --transactions=10', 0,
    [qr{processed: 80/80}], [qr{^$}], 'good numbers come all the while',
    { good => q{INSERT INTO good SELECT segment_next('good') FROM generate_series(1, 20);} });
is($node->safe_psql('postgres', q{SELECT count(*) FROM good}), 1600, '1600 of them');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'bad' AND state = 'active'}), scalar(@bad),
    'the bad tags still give the error of each');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name IN ('bad', 'holder')});
foreach my $session (@bad)
{
    like((psql_finish($session))[2], qr/terminating connection/, 'no other error was met');
}
psql_finish($holder);
is((psql_finish($waiting))[1], 1, 'and the locked tag goes on once it is free');
is($node->safe_psql('postgres', q{SELECT bool_and(max_id = 0) FROM id_segment
    WHERE biz_tag IN ('poisoned', 'late', 'suppressed', 'changed')}), 't',
    'nothing was reserved of a bad tag');
$node->safe_psql('postgres', 'DROP TRIGGER poison ON id_segment; DROP TRIGGER late ON id_segment');
is(take($node, $_, 1), 1, "cured, $_ goes on") foreach 'poisoned', 'late', 'suppressed', 'changed';

# A stopped session.
my $stopped = psql_start($node, 'stopped',
    q{SELECT count(segment_next('good')) FROM generate_series(1, 15000)});
my $pid = busy_pid($node, 'stopped');
kill 'STOP', $pid;
my @sessions = map { psql_start($node, 'going', q{
    SELECT count(segment_next('good')) FROM generate_series(1, 2000)}) } 1 .. 4;
is(join(' ', map { join ' ', (psql_finish($_))[0, 1] } @sessions),
    join(' ', ('0 2000') x 4), 'one session is stopped in the middle, others go on');
kill 'CONT', $pid;
is((psql_finish($stopped))[1], 15000, 'and so does the stopped one, later');

$node->stop;
done_testing();

# No setting that a trigger of the tables' owner makes in the worker outlives it,
# nor takes from a block that it is durable; a change of synchronous_commit reaches
# a worker that is alive.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', allows_streaming => 1,
    conf => "wal_writer_delay = '10s'\n");
$node->safe_psql('postgres', q{
    CREATE ROLE regress_idgen_owner;
    ALTER TABLE id_segment OWNER TO regress_idgen_owner;
    ALTER TABLE segment_log OWNER TO regress_idgen_owner;
    INSERT INTO id_segment (biz_tag, step) VALUES ('async', 10), ('readonly', 10), ('free', 10);
    CREATE FUNCTION settings() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM CASE NEW.biz_tag
            WHEN 'async' THEN set_config('synchronous_commit', 'off', false)
            WHEN 'readonly' THEN set_config('default_transaction_read_only', 'on', false) END;
        RETURN NEW;
    END $$;
    CREATE TRIGGER settings BEFORE UPDATE ON id_segment
        FOR EACH ROW EXECUTE FUNCTION settings();
    CHECKPOINT});
my $taken = take($node, 'async', 1);
$node->stop('immediate');
$node->start;
cmp_ok(take($node, 'async', 1), '>', $taken, 'durable before it was handed out');
is(take($node, 'readonly', 1), 1, 'a tag whose trigger sets something');
is(take($node, 'free', 1), 1, '... does not reach the next one');

$node->safe_psql('postgres', 'DROP TRIGGER settings ON id_segment');
reconfigure($node, synchronous_commit => 'off');
kill 'TERM', worker_pid($node, 'postgres');
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity
    WHERE backend_type = 'idgen segment worker'});
take($node, 'free', 20);
reconfigure($node, synchronous_commit => 'on');
standby_away($node);
is(sqlstate_of($node, q{SET idgen.timeout = '1s'; SELECT segment_alloc('free', 10)}), '55000',
    'synchronous_commit on again: no block without the standby');

$node->stop('immediate');
done_testing();

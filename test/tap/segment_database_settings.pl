# No setting of the database or of a role, and no object that somebody puts in
# its way, reaches the worker: it reads and writes as if there were none.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main');
add_tag($node, 'order', 10);
$node->safe_psql('postgres', q{
    CREATE ROLE regress_idgen_owner NOLOGIN;
    CREATE ROLE regress_idgen_other LOGIN;
    GRANT CREATE ON SCHEMA public TO regress_idgen_other;
    GRANT EXECUTE ON FUNCTION segment_next(text) TO regress_idgen_other});

# The worker that is there has the old settings, so each case gets a new one.
my $last = take($node, 'order', 1);
sub goes_on
{
    my ($what) = @_;
    my $pid = worker_pid($node, 'postgres');
    kill 'TERM', $pid if $pid ne '';
    worker_gone($node, $pid) if $pid ne '';
    # Whatever the setting, this session can write and set its own.
    my $numbers = $node->safe_psql('postgres', q{
        SET default_transaction_read_only = off;
        SET role = 'none';
        SET statement_timeout = 0;
        SET default_transaction_isolation = 'read committed';
        SET search_path = public;
        SELECT string_agg(segment_next('order')::text, ',') FROM generate_series(1, 35)});
    my @numbers = split /,/, $numbers;
    is(repeats([ $last, @numbers ]), '0|0', $what);
    $last = $numbers[-1];
    is($node->safe_psql('postgres', "SET search_path = public; SELECT
        (SELECT max_id FROM id_segment) = (SELECT max(end_id) FROM segment_log)"), 't',
        '... and the log has it');
    return;
}

foreach my $settings (
    [ 'default_transaction_read_only = on' ],
    [ q{default_transaction_isolation = 'serializable'}, 'default_transaction_deferrable = on' ],
    [ 'statement_timeout = 1', 'lock_timeout = 1', 'idle_in_transaction_session_timeout = 1' ],
    [ 'session_replication_role = replica' ],
    [ q{search_path = ''}, 'row_security = off' ],
    [ 'role = regress_idgen_other' ],
    [ 'synchronous_commit = off', 'enable_indexscan = off', q{DateStyle = 'German'},
        'transform_null_equals = on', 'check_function_bodies = off' ])
{
    local $ENV{PGOPTIONS} = '-c statement_timeout=0 -c default_transaction_read_only=off';
    foreach my $whose ('DATABASE postgres', 'ROLE CURRENT_USER')
    {
        my ($name) = $settings->[0] =~ /^(\w+)/;
        next if $name eq 'role' && $whose =~ /ROLE/;
        $node->safe_psql('postgres', join ';', map { "ALTER $whose SET $_" } @$settings);
        goes_on(join ', ', "ALTER $whose SET", @$settings);
        $node->safe_psql('postgres', "SET role = 'none'; ALTER $whose RESET ALL");
    }
}
$node->safe_psql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT 0');
goes_on('CONNECTION LIMIT 0');

# Row security binds the owner of a table only when it is forced.
$node->safe_psql('postgres', 'ALTER TABLE id_segment OWNER TO regress_idgen_owner;
    ALTER TABLE segment_log OWNER TO regress_idgen_owner;
    ALTER TABLE id_segment ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY');
goes_on('forced row security with no policy');
$node->safe_psql('postgres', 'ALTER TABLE id_segment DISABLE ROW LEVEL SECURITY');

# An ordinary role shadows all that a careless statement would find first.
my $shadows = q{
    CREATE SCHEMA mine;
    CREATE TABLE %1$s.id_segment (biz_tag text, max_id bigint, step int, updated_at
        timestamptz, incarnation uuid, system_id bigint, timeline int);
    INSERT INTO %1$s.id_segment VALUES ('order', 1, 1, now(), gen_random_uuid(), 1, 1);
    CREATE TABLE %1$s.segment_log (biz_tag text, incarnation uuid, start_id bigint,
        end_id bigint, proc text);};
my $operators = q{
    CREATE FUNCTION trap() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE 'ALTER ROLE regress_idgen_other SUPERUSER'; END $$;
    CREATE FUNCTION plus(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.trap(); RETURN 1; END $$;
    CREATE FUNCTION same(text, text) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.trap(); RETURN true; END $$;
    CREATE OPERATOR + (FUNCTION = plus, LEFTARG = bigint, RIGHTARG = bigint);
    CREATE OPERATOR = (FUNCTION = same, LEFTARG = text, RIGHTARG = text);
    CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.trap(); RETURN now(); END $$;
    CREATE FUNCTION unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.trap(); RETURN NEXT 'order'; END $$;};
$node->safe_psql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT -1;
    GRANT CREATE ON DATABASE postgres TO regress_idgen_other');
$node->safe_psql('postgres', sprintf($shadows, 'mine') . $operators,
    extra_params => [ '-U', 'regress_idgen_other' ]);
$node->safe_psql('postgres',
    'ALTER DATABASE postgres SET search_path = mine, public, pg_catalog');
{
    # Not so in this test's own sessions.
    local $ENV{PGOPTIONS} = '-c search_path=public';
    goes_on('objects of an ordinary role ahead in the search path');
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_catalog.pg_roles
    WHERE rolname OPERATOR(pg_catalog.=) 'regress_idgen_other' AND rolsuper}), 0,
    '... and none of them ran with higher rights');

$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET search_path');

# What does an owner's trigger get? The owner's rights.
$node->safe_psql('postgres', q{
    CREATE TABLE ran (as_role name);
    GRANT INSERT, SELECT ON ran TO regress_idgen_owner;
    CREATE FUNCTION climb() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
    BEGIN
        INSERT INTO public.ran VALUES (current_user);
        BEGIN
            EXECUTE 'ALTER ROLE regress_idgen_owner SUPERUSER';
            INSERT INTO public.ran VALUES ('ALTER ROLE');
        EXCEPTION WHEN insufficient_privilege THEN NULL;
        END;
        BEGIN
            EXECUTE 'RESET SESSION AUTHORIZATION';
            INSERT INTO public.ran VALUES ('RESET SESSION AUTHORIZATION');
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
        BEGIN
            EXECUTE 'SET ROLE NONE';
            INSERT INTO public.ran VALUES ('SET ROLE');
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
        RETURN NULL;
    END $$;
    CREATE TRIGGER at_once AFTER UPDATE ON id_segment
        FOR EACH ROW EXECUTE FUNCTION climb()});
is(sqlstate_of($node, q{SELECT segment_alloc('order')}), '00000',
    'a trigger of the owner that tries to get rights');
is($node->safe_psql('postgres', 'SELECT DISTINCT as_role FROM public.ran'),
    'regress_idgen_owner', 'it ran as the owner, and got none');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles
    WHERE rolname = 'regress_idgen_owner'}), 'f', '... nor did he become a superuser');

$node->stop;
done_testing();

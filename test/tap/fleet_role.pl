# The role that script/fleet-role.sql makes can call three functions and do nothing else;
# whatever it passes to them, they answer or raise an error, and change nothing that is
# not asked for. Triggers of the tables' owner run with his rights and in no one's way.
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
my @role = (extra_params => [ '-U', 'idgen_fleet' ]);
add_tag($coordinator, 'order', 10);
$coordinator->safe_psql('postgres', q{
    INSERT INTO id_segment (biz_tag, max_id) VALUES ('full', 9223372036854775797), (E'o''d"d\\\\', 0);
    INSERT INTO snowflake_layout (ttl_ms) VALUES (3600000); -- no lease ends meanwhile
    CREATE TABLE private (n int); CREATE SCHEMA other});
my $reserve = q{SELECT row_state, start_id, end_id, sqlstate FROM coordinator_reserve};
my $lease = 'SELECT node, epoch, lost, sqlstate FROM coordinator_lease';
sub as_role
{
    my ($sql) = @_;
    return outcome($coordinator, $sql, @role);
}

# What it may.
is($coordinator->safe_psql('postgres', q{SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication,
    rolbypassrls, (SELECT count(*) FROM pg_auth_members WHERE member = r.oid) FROM pg_roles r
    WHERE rolname = 'idgen_fleet'}), 'f|f|f|f|f|0', 'the role has no attribute and is in no other');
is($coordinator->safe_psql('postgres', q{SELECT string_agg(p.proname, ' ' ORDER BY p.proname) FROM pg_proc p,
    aclexplode(p.proacl) a WHERE a.grantee = 'idgen_fleet'::regrole}),
    'coordinator_lease coordinator_prune coordinator_reserve', 'three functions are granted to it');
is($coordinator->safe_psql('postgres', q{SELECT count(*) FROM pg_class c, aclexplode(c.relacl) a
    WHERE a.grantee = 'idgen_fleet'::regrole}), 0, '... and no table');
foreach my $sql ('SELECT * FROM private', 'SELECT * FROM segment_status', 'SELECT * FROM snowflake_status',
    q{SELECT segment_next('order')}, q{SELECT segment_alloc('order', 1)}, q{SELECT segment_set('order', 100)},
    'SELECT snowflake_accept_clock()', q{SELECT idgen_shift_clock('1 s')}, 'SELECT idgen_stop_in_next_call()',
    'CREATE TABLE other.t (n int)', 'CREATE SCHEMA mine', 'CREATE ROLE another',
    q{ALTER SYSTEM SET idgen.segment_log = off},
    map { my $table = $_; map { sprintf $_, $table } 'INSERT INTO %s DEFAULT VALUES', 'DELETE FROM %s',
        'TRUNCATE %s', 'SELECT * FROM %s FOR UPDATE' } qw(id_segment segment_log node_lease snowflake_layout))
{
    like(as_role($sql), qr/ERROR:  42501: /, "it cannot: $sql");
}
is(as_role(q{SELECT count(*) FROM id_segment}), 3, 'it reads what everybody may');

# Hostile arguments. A lease, and a number of a tag, to begin with.
my ($mine, $theirs) = ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002');
is(as_role("$reserve('{order}', '{alloc}', '{5}', 'm:1')"), 'ours|1|5|', 'it reserves numbers');
my ($node, $epoch) = split /\|/, as_role("$lease('take', '$theirs', 'them', -1, 0, 0, 0)");
is("$node $epoch", '0 1', 'it leases a node');
my $state = q{SELECT (SELECT string_agg(biz_tag || max_id, ' ' ORDER BY biz_tag) FROM id_segment),
    (SELECT count(*) FROM segment_log), (SELECT string_agg(n::text, ' ' ORDER BY node_id) FROM node_lease n)};
my $before = $coordinator->safe_psql('postgres', $state);
my $many = q{array_agg('t' || i), array_agg('alloc'::text), array_agg(1::bigint), 'm:1') FROM generate_series(1, 5000) i};
my ($max, $min) = ('9223372036854775807', '-9223372036854775808');
foreach (
    [ q{'{NULL}', '{alloc}', '{1}', ''}, '22023' ], [ q{'{order}', '{NULL}', '{1}', ''}, '22023' ],
    [ q{'{order}', '{alloc}', '{NULL}', ''}, '22023' ], [ q{NULL, '{alloc}', '{1}', ''}, '' ],
    [ q{'{order}', '{alloc}', '{1}', NULL}, '' ],
    [ q{'{order,order}', '{alloc}', '{1}', ''}, '22023' ], [ q{'{order}', '{alloc,alloc}', '{1}', ''}, '22023' ],
    [ q{'{order}', '{alloc}', '{1,1}', ''}, '22023' ], [ q{'{{order}}', '{{alloc}}', '{{1}}', ''}, '22023' ],
    [ q{'{}', '{}', '{}', ''}, '22023' ], [ q{'{order}', '{alloc}', '{-1}', ''}, '22023' ],
    [ qq{'{order}', '{alloc}', '{$min}', ''}, '22023' ], [ qq{'{order}', '{set}', '{$min}', ''}, '22023' ],
    [ q{'{order}', '{take}', '{1}', ''}, '22023' ], [ q{'{order}', '{}', '{}', ''}, '22023' ],
    [ q{'{order,order}', '{alloc,""}', '{1,1}', ''}, '22023' ],
    [ q{'{""}', '{alloc}', '{1}', ''}, 'missing|||02000' ],
    [ qq{ARRAY[repeat('x', 100)], '{alloc}', '{1}', ''}, 'missing|||02000' ],
    [ qq{ARRAY[repeat('x', 10000000)], '{alloc}', '{1}', ''}, 'missing|||02000' ],
    [ q{ARRAY[E'order''; DELETE FROM id_segment; --'], '{alloc}', '{1}', ''}, 'missing|||02000' ],
    [ q{ARRAY[E'o''d"d\\\\'], '{look}', '{0}', ''}, 'ours|||' ],
    [ q{'[7:7]={order}', '[-3:-3]={look}', '[0:0]={0}', ''}, 'ours|||' ],
    [ qq{'{order}', '{look}', '{$max}', ''}, 'ours|||' ],
    [ qq{'{order}', '{alloc}', '{$max}', ''}, 'ours|||2200H' ], [ qq{'{full}', '{alloc}', '{$max}', ''}, 'ours|||2200H' ],
    [ q{'{full}', '{alloc}', '{11}', ''}, 'ours|||2200H' ], [ q{'{full}', '{set}', '{5}', ''}, 'ours|||22023' ],
    [ q{'{order}', '{set}', '{5}', ''}, 'ours|||22023' ], [ q{'{order}', '{set}', '{0}', ''}, 'ours|||22023' ],
    [ q{'{order}', '{alloc}', '{1}', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i)}, '54000' ])
{
    my ($arguments, $expected) = @$_;
    my $shown = length $arguments > 70 ? substr($arguments, 0, 70) . '...' : $arguments;
    my $last = as_role("$reserve($arguments)");
    like($last, $expected =~ /\|/ || $expected eq '' ? qr/^\Q$expected\E$/ : qr/ERROR:  $expected: /,
        "coordinator_reserve($shown)");
}
like(as_role("SELECT coordinator_reserve($many"), qr/ERROR:  22023: .*1 to \d+ elements/, 'coordinator_reserve() of 5000');
foreach (
    [ "'renew', '$mine', 'm', $node, $epoch, 0, 0", '|1|55000$', 'another holder cannot renew a lease' ],
    [ "'renew', '$theirs', 'm', $node, $epoch + 1, 0, 0", '|1|55000$', '... nor who names another epoch' ],
    [ "'renew', '$theirs', 'm', $node + 1, $epoch, 0, 0", '|1|55000$', '... or another node' ],
    [ "'give back', '$mine', 'm', $node, $epoch, 0, 1", '', 'nor give it back' ],
    [ "'give back', '$theirs', 'm', $node, 0, 0, 1", '', '... nor of another epoch' ],
    [ "'give back', '$theirs', 'm', $node, $epoch, 0, $max", '', 'nor is a lease made longer so' ],
    [ "'give back', '$theirs', 'm', $node, $epoch, 0, -9000000000000000000", '22008', 'or ended at a time that there is not' ],
    [ "'steal', '$mine', 'm', 0, 0, 0, 0", '22023', 'an unknown step' ],
    [ "'', '$mine', 'm', 0, 0, 0, 0", '22023', 'none' ],
    [ "'take', '$mine', 'm', 1024, 0, 0, 0", '\|22023$', 'a node that the layout has not' ],
    [ "'take', '$mine', 'm', 2147483647, 0, 0, 0", '\|22023$', '... nor the server' ],
    [ "'take', '$mine', 'm', -2, 0, 0, 0", '2', 'a node below 0' ],
    [ "'take', '$mine', 'm', -2147483648, 0, 0, 0", '2', '... far below' ],
    [ "'take', '$mine', 'm', $node, $max, $max, $max", '\|55000$', 'a node that is leased' ],
    [ "'take', NULL, 'm', -1, 0, 0, 0", '^\|\|\|$', 'nobody takes one' ])
{
    my ($arguments, $expected, $what) = @$_;
    my $last = as_role("$lease($arguments)");
    $expected =~ s/^\|/\\|/;
    $expected =~ s/\|1\|/|1\\|/;
    like($last, $expected =~ /^2/ ? qr/ERROR:  $expected/ : qr/$expected/, "coordinator_lease(): $what");
}
is($coordinator->safe_psql('postgres', $state), $before, 'all tables are as they were');
is(as_role('SELECT coordinator_prune()'), 't', 'coordinator_prune() deletes nothing that is new');
is($coordinator->safe_psql('postgres', $state), $before, '... either');

# The owner's triggers: a warning is no reason to throw a block away.
my $member = fleet_member('member', [$coordinator]);
$coordinator->safe_psql('postgres', q{
    CREATE ROLE regress_idgen_owner; GRANT CREATE, USAGE ON SCHEMA public TO regress_idgen_owner;
    ALTER TABLE id_segment OWNER TO regress_idgen_owner; ALTER TABLE segment_log OWNER TO regress_idgen_owner;
    SET ROLE regress_idgen_owner;
    CREATE TABLE ran_as (who text);
    CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE WARNING 'of the owner'; RETURN NEW; END $$;
    CREATE TRIGGER warn BEFORE UPDATE ON id_segment FOR EACH ROW EXECUTE FUNCTION warn();
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON id_segment
        FOR EACH ROW EXECUTE FUNCTION note()});
my $next = q{SELECT string_agg(n::text, ' ') FROM (SELECT segment_next('order') AS n FROM generate_series(1, 25)) s};
is($member->safe_psql('postgres', $next), join(' ', 6 .. 30), 'a trigger warns: no block is thrown away');
is($coordinator->safe_psql('postgres', 'SELECT DISTINCT who FROM ran_as'), 'regress_idgen_owner',
    'a trigger runs with the rights of the owner');

# One that raises does so for its tag, and the connection goes on.
my $alloc = q{SELECT start_id FROM segment_alloc('order', 1)};
$coordinator->safe_psql('postgres', q{SET ROLE regress_idgen_owner;
    INSERT INTO id_segment (biz_tag) VALUES ('bad');
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = 'P0042'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON id_segment FOR EACH ROW WHEN (OLD.biz_tag = 'bad')
        EXECUTE FUNCTION refuse()});
foreach (1 .. 3)
{
    like(outcome($member, q{SELECT segment_alloc('bad', 1)}), qr/ERROR:  P0042: not this one/, 'a tag that is refused');
    like(outcome($member, $alloc), qr/^\d+$/, '... and at once another that is not');
}

# One that is put off would run at the commit, when the rights are the caller's again.
my $last = $member->safe_psql('postgres', $alloc);
$coordinator->safe_psql('postgres', q{DROP TRIGGER note ON id_segment; DELETE FROM ran_as;
    CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON id_segment DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION note()});
like(outcome($member, $alloc), qr/ERROR:  42501: .*deferred/, 'one that is deferred is refused');
$coordinator->safe_psql('postgres', q{DROP TRIGGER note ON id_segment; SET ROLE regress_idgen_owner;
    CREATE TABLE later (n int);
    CREATE CONSTRAINT TRIGGER note AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION note();
    CREATE FUNCTION put_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.later VALUES (1); RETURN NEW; END $$;
    CREATE TRIGGER put_off AFTER UPDATE ON id_segment FOR EACH ROW EXECUTE FUNCTION put_off()});
like(outcome($member, $alloc), qr/ERROR:  42501: .*deferred/, '... also of another table');
is($coordinator->safe_psql('postgres', 'SELECT count(*) FROM ran_as'), 0, '... and does not run');
$coordinator->safe_psql('postgres', 'DROP TRIGGER put_off ON id_segment');
is(insist_on($member, $alloc), $last + 1, 'without it numbers come again, and none is lost');

$_->stop foreach $member, $coordinator;
done_testing();

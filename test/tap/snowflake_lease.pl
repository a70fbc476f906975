# Who gets which node, and what callers hear when none is to be had.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', allows_streaming => 1, conf => "idgen.timeout = '60s'\n");
my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'idgen lease worker'};

sub error_of
{
    my ($sql, %option) = @_;
    my ($rc, $out, $err) = $node->psql($option{db} // 'postgres', "\\set VERBOSITY verbose\n$sql");
    return $rc == 0 ? "no error, but $out" : $err;
}
sub next_id
{
    my ($db) = @_;
    return $node->safe_psql($db // 'postgres', 'SELECT snowflake_next()');
}
sub end_worker
{
    my $pid = $node->safe_psql('postgres', $worker);
    return unless $pid;
    kill 'TERM', $pid;
    worker_gone($node, $pid);
    return;
}

subtest 'the lease database' => sub
{
    $node->safe_psql('postgres', 'CREATE DATABASE other');
    $node->safe_psql('other', 'CREATE EXTENSION idgen');
    like(error_of('INSERT INTO snowflake_layout DEFAULT VALUES', db => 'other'),
        qr/55000.*idgen\.lease_database/, 'a layout counts only there');
    $node->safe_psql('postgres', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (2000)');
    my @ids = (next_id(), next_id('other'), next_id(), next_id('other'));
    is(join(' ', sort { $a <=> $b } @ids), join(' ', @ids), 'all databases draw from one lease, in order');
    is($node->safe_psql('other', 'SELECT count(*) FROM node_lease'), 0, '... which is in one of them');
    is(error_of('UPDATE snowflake_layout SET ttl_ms = 3000') =~ /55000/, 1, 'the layout is final now');

    $node->safe_psql('postgres', 'CREATE DATABASE bare');
    reconfigure($node, 'idgen.lease_database' => 'bare');
    end_worker();
    like(error_of('SELECT snowflake_next()'),
        qr/55000: .*"bare".* no extension.*HINT: .*idgen\.lease_database/s, 'no extension there: it says so');
    reconfigure($node, 'idgen.lease_database' => 'nowhere');
    like(error_of(q{SET idgen.timeout = '1s'; SELECT snowflake_next()}),
        qr/55000: .*"nowhere" .*does not exist.*HINT: .*idgen\.lease_database/s, 'nor a database: it says so');
    # A worker that is connected leaves when its database is to be dropped.
    $node->safe_psql('bare', 'CREATE EXTENSION idgen');
    reconfigure($node, 'idgen.lease_database' => 'bare');
    $node->safe_psql('bare', 'INSERT INTO snowflake_layout (ttl_ms) VALUES (3600000)');
    cmp_ok(next_id(), '>', $ids[-1], 'another lease database with the same layout: ids rise on');
    is($node->safe_psql('postgres', 'SELECT datname FROM pg_stat_activity
        WHERE backend_type = \'idgen lease worker\''), 'bare', '... its worker is there');
    reconfigure($node, 'idgen.lease_database' => undef);
    $node->safe_psql('postgres', 'DROP DATABASE bare');
    cmp_ok(next_id(), '>', $ids[-1], 'it can be dropped, and ids come from the first again');
};

subtest 'a node of one\'s own' => sub
{
    reconfigure($node, 'idgen.node_id' => 77);
    end_worker();
    is($node->safe_psql('postgres', 'SELECT snowflake_node(snowflake_next())'), 77, 'idgen.node_id is taken');
    reconfigure($node, 'idgen.node_id' => 78);
    ok($node->poll_query_until('postgres', 'SELECT snowflake_node(snowflake_next()) = 78'),
        'a reload is enough for another');
    reconfigure($node, 'idgen.node_id' => 1024);
    end_worker();
    like(error_of('SELECT snowflake_next()'), qr/22023: .*1024.* 0 to 1023/, 'one that the layout has not');
    # Somebody else's, for a while.
    $node->safe_psql('postgres', q{INSERT INTO node_lease VALUES
        (500, gen_random_uuid(), 'elsewhere', 9, now(), now() + interval '4 s')});
    reconfigure($node, 'idgen.node_id' => 500);
    end_worker();
    like(error_of('SELECT snowflake_next()'), qr/55000: .*no Snowflake node is free.*DETAIL: .* \d+ ms/s,
        'leased elsewhere: it says for how long');
    ok($node->poll_query_until('postgres', q{SELECT leased_until < now() FROM node_lease WHERE node_id = 500}),
        'then it is over');
    my ($id, $from) = split /\|/, $node->safe_psql('postgres',
        q{SELECT snowflake_node(i), snowflake_time(i) > leased_from - interval '1 ms'
        FROM (SELECT snowflake_next() AS i OFFSET 0) s, node_lease WHERE node_id = 500});
    is($id, 500, 'and it is ours');
};

subtest 'the row of the lease is locked' => sub
{
    my $lock = psql_start($node, 'lock', q{BEGIN; SELECT 1 FROM node_lease FOR UPDATE; SELECT pg_sleep(1000)});
    waits_for($node, 'lock', "'PgSleep'");
    ok($node->poll_query_until('postgres', 'SELECT NOT leased FROM snowflake_status'), 'the lease ends meanwhile');
    like(error_of(q{SET idgen.timeout = '1s'; SELECT snowflake_next()}), qr/55P03: .*locked/, 'a node of its own: 55P03');
    reconfigure($node, 'idgen.node_id' => undef);
    my $new = $node->safe_psql('postgres', 'SELECT snowflake_node(snowflake_next())');
    is($node->safe_psql('postgres', "SELECT epoch FROM node_lease WHERE node_id = $new"), 1,
        'any node: one that has no row yet');
    $node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'lock'});
    psql_finish($lock);
};

subtest 'an idle server writes nothing' => sub
{
    next_id();
    ok($node->poll_query_until('postgres', "SELECT NOT EXISTS ($worker)"), 'the worker leaves when nobody asks');
    is($node->safe_psql('postgres', 'SELECT max(leased_until) < now() + interval \'1 ms\' FROM node_lease'), 't',
        'all is given back');
    # Renewals would be in each stretch that is longer than a ttl; what the server
    # itself writes at times is not in all.
    my $written;
    foreach (1 .. 10)
    {
        my $lsn = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');
        $node->safe_psql('postgres', 'SELECT pg_sleep(2.5)');
        $written = $node->safe_psql('postgres', "SELECT pg_current_wal_insert_lsn() - '$lsn'");
        last if $written < 300;
    }
    cmp_ok($written, '<', 300, 'and nothing is written');
    is($node->safe_psql('postgres', $worker), '', 'no worker, no renewal');
    cmp_ok(next_id(), '>', 0, 'and the next call gets a lease again');
};

subtest 'standby, and its promotion' => sub
{
    $node->backup('base');
    my $standby = PostgreSQL::Test::Cluster->new('standby');
    $standby->init_from_backup($node, 'base', has_streaming => 1);
    $standby->start;
    is(sqlstate_of($standby, 'SELECT snowflake_next()'), '25006', 'none on a standby');
    is(sqlstate_of($standby, q{SELECT snowflake_time(1)}), '00000', '... but decoders');
    $node->wait_for_catchup($standby);
    # It lags: leases of the primary from now on are unknown to it.
    $standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
    $standby->reload;
    ok($standby->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_wal_receiver'),
        'it hears no more of the primary');
    my $lag = $node->safe_psql('postgres', 'SELECT pg_current_wal_lsn()');
    my @ids = map { next_id() } 1 .. 10;
    end_worker();
    push @ids, next_id();
    $node->stop('immediate');
    is($standby->safe_psql('postgres', "SELECT pg_last_wal_replay_lsn() <= '$lag'"), 't',
        'it lacks the last leases');
    $standby->promote;
    my $epochs = $standby->safe_psql('postgres', 'SELECT sum(epoch), count(*) FROM node_lease');
    my ($rc, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\nSELECT snowflake_next()");
    like($err, qr/55000: .*no Snowflake node is free.*DETAIL: .* \d+ ms/s, 'promoted: no lease yet');
    is($standby->safe_psql('postgres', 'SELECT sum(epoch) - count(*) || \'|\' || count(*) FROM node_lease'), $epochs,
        'every epoch is raised');
    is($standby->safe_psql('postgres', 'SELECT count(*) FROM node_lease WHERE holder IS NOT NULL'), 0,
        '... and nobody holds a node');
    ok($standby->poll_query_until('postgres', 'SELECT max(leased_until) < now() FROM node_lease'),
        'after a ttl and a second');
    push @ids, $standby->safe_psql('postgres', 'SELECT snowflake_next()');
    is(join(' ', sort { $a <=> $b } @ids), join(' ', @ids), 'ids come, greater than all of the primary');
    like(slurp_file($standby->logfile), qr/another timeline or system identifier/, 'the log says why');
    $standby->stop;
};

done_testing();

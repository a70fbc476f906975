# A database's owner who is no superuser can dump it and restore it in one
# transaction, if a superuser has made the extension there and let him write its
# tables, and comments are left out (COMMENT ON EXTENSION is for its owner).
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main');
my $owner = 'regress_idgen_owner';
my @by_owner = ('-U', $owner);
my $directory = PostgreSQL::Test::Utils::tempdir;
# What a superuser does in the owner's database beforehand.
my $uses = qq{GRANT EXECUTE ON FUNCTION segment_next(text), segment_alloc(text, integer)
    TO $owner;};
my %writes = (
    granted => "GRANT INSERT ON id_segment, segment_log, snowflake_layout, node_lease TO $owner",
    owned => join '; ', map { "ALTER TABLE $_ OWNER TO $owner" }
        'id_segment', 'segment_log', 'snowflake_layout', 'node_lease');

sub owned_database
{
    my ($database, $rights) = @_;
    $node->safe_psql('postgres', "CREATE DATABASE $database OWNER $owner");
    $node->safe_psql($database, "CREATE EXTENSION idgen; $rights");
    return;
}

sub as_owner
{
    my ($database, $sql) = @_;
    return $node->safe_psql($database, $sql, extra_params => [@by_owner]);
}

my $contents = q{
    SELECT biz_tag, max_id, step, incarnation FROM id_segment ORDER BY biz_tag;
    SELECT biz_tag, incarnation, start_id, end_id, allocated_at FROM segment_log
        ORDER BY biz_tag, start_id;
    SELECT count(*), count(DISTINCT id), max(id) FROM item};

$node->safe_psql('postgres', "CREATE ROLE $owner LOGIN; CREATE ROLE regress_idgen_app");
owned_database('source', "$uses $writes{granted};
    GRANT EXECUTE ON FUNCTION segment_next(text) TO regress_idgen_app");
as_owner('source', q{
    INSERT INTO id_segment (biz_tag, step) VALUES ('order', 100), ('other', 10)});
my $last = as_owner('source', q{
    CREATE TABLE item (id bigint PRIMARY KEY DEFAULT segment_next('order'), n int);
    COMMENT ON TABLE item IS 'numbered';
    GRANT SELECT ON item TO regress_idgen_app;
    INSERT INTO item (n) SELECT generate_series(1, 160);
    SELECT segment_next('order')});
is($last, 161, 'numbers in the source');
# Its worker reserves no more.
my $pid = worker_pid($node, 'source');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
worker_gone($node, $pid);
my ($dumped, $reserved) = map { $node->safe_psql('source', $_) } $contents,
    q{SELECT max_id FROM id_segment WHERE biz_tag = 'order'};

my %dump = map { $_ => "$directory/$_" } 'plain', 'custom';
foreach my $format (sort keys %dump)
{
    $node->command_ok([ 'pg_dump', @by_owner, "--format=$format", '--no-comments',
            '-f', $dump{$format}, '-d', $node->connstr('source') ],
        "pg_dump by the owner: $format");
}
my %restore = (
    plain => [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-1', '-f', $dump{plain}, @by_owner ],
    custom => [ 'pg_restore', '-1', '--no-comments', @by_owner, $dump{custom} ]);
foreach my $format (sort keys %restore)
{
    my @command = @{ $restore{$format} };
    foreach my $rights (sort keys %writes)
    {
        my $copy = "${format}_$rights";
        owned_database($copy, "$uses $writes{$rights}");
        $node->command_ok([ @command, '-d', $node->connstr($copy) ],
            "$format, tables $rights: restored");
        is($node->safe_psql($copy, $contents), $dumped, '... as it was');
        is(as_owner($copy, q{SELECT segment_next('order')}), $reserved + 1,
            '... and numbers go on above those of the dump');
        is(as_owner($copy, q{SELECT start_id > 0, end_id - start_id FROM segment_alloc('other')}),
            't|9', '... and ranges');
        is(as_owner($copy, q{INSERT INTO item (n) SELECT generate_series(1, 300);
            SELECT count(*), count(DISTINCT id) FROM item}), '460|460',
            '... and those that come by default');
        is($node->safe_psql($copy, 'SELECT count(*) FROM segment_overlap'), 0,
            '... of which none was reserved before');
    }

    # Without that right: nothing at all, and an error that says which.
    owned_database("${format}_bare", $uses);
    command_fails_like([ @command, '-d', $node->connstr("${format}_bare") ],
        qr/ERROR:  permission denied for table id_segment/, "$format, no right: refused");
    is($node->safe_psql("${format}_bare", q{SELECT count(*) FROM id_segment;
        SELECT to_regclass('item') IS NULL}), "0\nt", '... leaving nothing behind');
}

$node->stop;
done_testing();

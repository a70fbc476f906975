# The check for overlapping blocks finds the damage of SELECT, then UPDATE, and
# finds none in the one statement.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main', conf => "log_statement = none\n");
# No triggers, which would refuse the worst of it.
$node->safe_psql('postgres', q{
    CREATE TABLE unguarded (LIKE id_segment INCLUDING DEFAULTS);
    INSERT INTO unguarded (biz_tag) VALUES ('equal'), ('shifted');
    INSERT INTO id_segment (biz_tag, step) VALUES ('control', 100), ('alloc', 100)});

# 8 clients reserve 200 blocks each, and write them down.
my $log = q{INSERT INTO segment_log (biz_tag, incarnation, start_id, end_id, proc)
    VALUES ('%s', '00000000-0000-0000-0000-000000000000', %s, %s, :client_id);};
sub reserve
{
    my ($tag, $script) = @_;
    $node->pgbench('--client=8 --jobs=2 --no-vacuum --transactions=200', 0,
        [qr{processed: 1600/1600}], [qr{^$}], "8 clients, 200 times each: $tag",
        { $tag => $script });
    return;
}

sub overlaps
{
    my ($tag) = @_;
    return $node->safe_psql('postgres',
        "SELECT count(*) FROM segment_overlap WHERE biz_tag = '$tag'");
}

subtest negative_select_then_update_overlap => sub
{
    foreach my $case ([ equal => 100 ], [ shifted => 'random(50, 100)' ])
    {
        my ($tag, $step) = @$case;
        reserve($tag, qq{
            \\set step $step
            SELECT max_id FROM unguarded WHERE biz_tag = '$tag' \\gset
            \\set end :max_id + :step
            UPDATE unguarded SET max_id = :end WHERE biz_tag = '$tag';
            } . sprintf($log, $tag, ':max_id + 1', ':end'));
        cmp_ok(overlaps($tag), '>', 0, overlaps($tag) . ' of 1600 blocks overlap');
    }
    cmp_ok($node->safe_psql('postgres',
        q{SELECT max_id FROM unguarded WHERE biz_tag = 'equal'}), '<', 160000,
        'max_id is too low');
};

subtest control_update_returning_no_overlap => sub
{
    reserve('control', q{
        UPDATE id_segment SET max_id = max_id + 100 WHERE biz_tag = 'control'
            RETURNING max_id \gset
        } . sprintf($log, 'control', ':max_id - 99', ':max_id'));
    is(overlaps('control'), 0, 'the statement alone: no damage');
    # The worker logs these itself.
    reserve('alloc', q{SELECT segment_alloc('alloc');});
    is(overlaps('alloc'), 0, 'segment_alloc(): no damage');
    is($node->safe_psql('postgres', 'SELECT biz_tag, max_id FROM id_segment ORDER BY 1'),
        "alloc|160000\ncontrol|160000", 'max_id is the sum');
};

$node->stop;
done_testing();

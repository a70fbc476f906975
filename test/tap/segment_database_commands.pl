# A worker that is alive is in nobody's way: its database can be dropped, renamed
# and used as a template at once; tags of two databases are apart.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = idgen_node('main',
    conf => "idgen.worker_idle_timeout = '1h'\nmax_prepared_transactions = 5\n");
add_tag($node, 'order', 100);
is(take($node, 'order', 3), 3, 'numbers of the first database');
$node->safe_psql('postgres', 'CREATE DATABASE one');
$node->safe_psql('one', 'CREATE EXTENSION idgen');
add_tag($node, 'order', 100, db => 'one');
is(take($node, 'order', 60, db => 'one'), 60, 'the same tag in another one begins at 1');
next_landed($node, 'order', db => 'one');

# Each of these with a worker in it that would stay for an hour.
sub with_worker
{
    my ($database, $command) = @_;
    $node->safe_psql($database, q{SELECT segment_alloc('order', 100)});
    like(worker_pid($node, $database), qr/^\d+$/, "$database has a worker");
    is(sqlstate_of($node, $command), '00000', $command);
    return;
}
with_worker('one', 'CREATE DATABASE two TEMPLATE one');
is(take($node, 'order', 1, db => 'two'), 301,
    'the copy goes on above all that was reserved when it was made');
is(take($node, 'order', 1, db => 'one'), 61, '... and the original where it was');
is(take($node, 'order', 139, db => 'one'), 200, '... up to the end of its blocks');
with_worker('one', 'ALTER DATABASE one RENAME TO uno');
cmp_ok(take($node, 'order', 1, db => 'uno'), '>', 300, 'renamed, it goes on');
with_worker('two', 'ALTER DATABASE two SET TABLESPACE pg_default');
is(take($node, 'order', 1, db => 'two'), 302, 'moved or not, it goes on');
with_worker('uno', 'DROP DATABASE uno');
$node->safe_psql('postgres', 'CREATE DATABASE uno TEMPLATE two');
cmp_ok(take($node, 'order', 1, db => 'uno'), '>', 302, 'one of the same name has its own numbers');
with_worker('two', 'DROP DATABASE two WITH (FORCE)');
is(take($node, 'order', 1), 4, 'and all the while the first database goes on');

$node->stop;
done_testing();

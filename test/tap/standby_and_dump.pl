# A hot standby issues ids; a promoted one goes on; a dump restores tables with
# their defaults, also into another schema's extension.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = idgen_node('primary', allows_streaming => 1);
$primary->safe_psql('postgres', q{
    CREATE TABLE item (id uuid PRIMARY KEY DEFAULT uuidv7_mono(), n int);
    CREATE VIEW item_time AS SELECT uuidv7_time(id) AS created, n FROM item;
    CREATE INDEX item_created ON item (uuidv7_time(id));
    INSERT INTO item (n) SELECT generate_series(1, 100)});

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q{SELECT pg_is_in_recovery(), count(DISTINCT id),
    bool_and(id > (SELECT id FROM item ORDER BY id DESC LIMIT 1))
    FROM (SELECT uuidv7_mono() AS id FROM generate_series(1, 1000)) s}),
    't|1000|t', 'a hot standby issues ids');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM uuidv7_status'), 1,
    'and shows its state');
my $last = $standby->safe_psql('postgres', 'SELECT uuidv7_mono()');
$standby->promote;
cmp_ok($standby->safe_psql('postgres', 'INSERT INTO item (n) VALUES (101) RETURNING id'),
    'gt', $last, 'promoted, it goes on above them');
$standby->stop;

# Dump and restore.
my $dump = PostgreSQL::Test::Utils::tempdir . '/dump.sql';
$primary->command_ok([ 'pg_dump', '-f', $dump, '-d', $primary->connstr('postgres') ],
    'pg_dump');
$primary->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE template0');
$primary->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump,
        '-d', $primary->connstr('copy') ], 'restore');
is($primary->safe_psql('copy', q{
    INSERT INTO item (n) VALUES (101);
    SELECT count(*), count(DISTINCT id), count(created) FROM item JOIN item_time USING (n)}),
    '101|101|101', 'restored tables keep their ids and get new ones by default');

# A database made from a template that has the extension.
$primary->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE copy');
cmp_ok($primary->safe_psql('again', 'INSERT INTO item (n) VALUES (102) RETURNING id'),
    'gt', $last, 'a database from a template works at once');

# DROP EXTENSION in use fails without CASCADE, as for any function in a default.
is(sqlstate_of($primary, 'DROP EXTENSION idgen'), '2BP01', 'DROP EXTENSION names what uses it');

$primary->stop;
done_testing();

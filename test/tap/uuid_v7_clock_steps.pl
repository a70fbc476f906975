# The machine's clock really steps, back and ahead, while the server runs and
# across restarts: ids rise on, and none comes twice.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($faketime) = glob '/usr/lib/*/faketime/libfaketime.so.1';
plan skip_all => 'libfaketime is not installed' unless $faketime;

my $stamp = PostgreSQL::Test::Utils::tempdir . '/stamp';

# Written beside and moved: the server must never read half a stamp.
sub step_clock
{
    my ($seconds) = @_;
    append_to_file("$stamp.new", sprintf("%+d\n", $seconds));
    rename "$stamp.new", $stamp or die "could not rename: $!";
    return;
}

sub with_faked_clock
{
    my ($do) = @_;
    local $ENV{LD_PRELOAD} = $faketime;
    local $ENV{FAKETIME_TIMESTAMP_FILE} = $stamp;
    local $ENV{FAKETIME_NO_CACHE} = 1;
    local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;
    return $do->();
}

step_clock(0);
my $node = with_faked_clock(sub { idgen_node('clock') });
$node->safe_psql('postgres', q{
    CREATE TABLE ids (n int GENERATED ALWAYS AS IDENTITY, phase text, id uuid, ulid uuid);
    CREATE VIEW ulids AS SELECT n, ulid AS id FROM ids});

sub take_ids
{
    my ($phase) = @_;
    $node->safe_psql('postgres', qq{INSERT INTO ids (phase, id, ulid)
        SELECT '$phase', uuidv7_mono(), ulid_next() FROM generate_series(1, 1000)});
    return;
}

# From the real clock, which this test process sees, to the ids' time.
sub ahead_of_real
{
    my ($phase) = @_;
    return $node->safe_psql('postgres', qq{SELECT round(extract(epoch FROM
        max(uuidv7_time(id))) - @{[time]}) FROM ids WHERE phase = '$phase'});
}

take_ids('start');
step_clock(-3600);
cmp_ok($node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp())"),
    '<', time - 3000, 'the server sees its clock an hour back');
take_ids('back');
cmp_ok(ahead_of_real('back'), '>', -60, 'time of ids stands when the clock goes back');
is($node->safe_psql('postgres',
    'SELECT ahead_ms > 3500000, clock_steps_back FROM uuidv7_status'),
    't|1', 'the view shows an hour ahead and one step');

step_clock(3600);
take_ids('ahead');
cmp_ok(ahead_of_real('ahead'), '>', 3500, 'ids follow the clock ahead');
step_clock(0);
take_ids('corrected');
cmp_ok(ahead_of_real('corrected'), '>', 3500, 'and stand there when it comes back');
is(not_rising($node, 'ids', 'n'), '0|0', 'all rise strictly, over every step');
is(not_rising($node, 'ulids', 'n'), '0|0', 'so do ULIDs');

$node->safe_psql('postgres', 'SELECT uuidv7_accept_clock()');
take_ids('accepted');
cmp_ok(ahead_of_real('accepted'), '<', 60, 'uuidv7_accept_clock() takes the clock again');
ok($node->log_contains(qr/UUIDv7 times go back by \d+ ms/), 'which is logged');

# Across a clean and an unclean restart with the clock back: the time goes back
# with it, as the word is gone, but no id comes again.
step_clock(-3600);
with_faked_clock(sub { $node->restart });
take_ids('restarted');
crash_postmaster($node);
step_clock(-7200);
with_faked_clock(sub { $node->start });
take_ids('crashed');
is($node->safe_psql('postgres',
    'SELECT count(*), count(DISTINCT id), count(DISTINCT ulid) FROM ids'),
    '7000|7000|7000', 'no id comes twice over restarts with the clock back');

$node->stop;
done_testing();

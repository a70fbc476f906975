# Shared memory comes by preload or, from 17 on, by itself; where it cannot be
# had, one error says what to do, and what needs none of it works.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib $FindBin::RealBin;
use IdgenTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $pure = q{SELECT uuidv7_time(uuidv7_at('2024-01-01 UTC')) = '2024-01-01 UTC',
    uuidv7_floor('2024-01-01 UTC') < uuidv7_ceil('2024-01-01 UTC'),
    uuidv7_is_valid(uuidv7_at(now()))};
my $codecs = q{SELECT typeid_check(typeid_encode('a', uuidv7_at(now()))),
    ulid_decode(ulid_encode(uuidv7_at(now()))) IS NOT NULL,
    ksuid_time(ksuid_decode(ksuid_encode(ksuid_next()))) <= now(),
    length(nanoid()), sqids_decode(sqids_encode('{1}')),
    id_unmask(id_mask(1, '\x000102030405060708090a0b0c0d0e0f'), '\x000102030405060708090a0b0c0d0e0f')};

my $plain = idgen_node('plain', preload => 0);
is($plain->safe_psql('postgres', $pure), 't|t|t',
    'what needs no shared memory works without preload');
is($plain->safe_psql('postgres', $codecs), 't|t|t|21|{1}|1', 'so do codecs');
if (needs_preload($plain))
{
    foreach my $call ('SELECT uuidv7_mono()', q{SELECT uuidv7_mono('1 s'::interval)},
        'SELECT * FROM uuidv7_status', 'SELECT uuidv7_accept_clock()',
        'SELECT ulid_next()', q{SELECT idgen_shift_clock('0')})
    {
        is(sqlstate_of($plain, $call), '55000', "without preload an error: $call");
    }
    my ($rc, $out, $err) = $plain->psql('postgres', 'SELECT uuidv7_mono()');
    like($err, qr/idgen has no shared memory in this server
DETAIL:  .*
HINT:  .*shared_preload_libraries/,
        'which says what to do');
}
else
{
    my $first = $plain->safe_psql('postgres', 'SELECT uuidv7_mono()');
    my $second = $plain->safe_psql('postgres', 'SELECT uuidv7_mono()');
    cmp_ok($second, 'gt', $first, 'two sessions share one word without preload');
    # The library is loaded late, again and again, into every kind of process.
    is($plain->safe_psql('postgres', q{LOAD 'idgen'; SELECT count(uuidv7_mono())}),
        1, 'LOAD works');
}
$plain->stop;

my $preloaded = idgen_node('preloaded', preload => 1);
is($preloaded->safe_psql('postgres', $pure), 't|t|t', 'all of it works with preload');
my $first = $preloaded->safe_psql('postgres', 'SELECT uuidv7_mono()');
$preloaded->safe_psql('postgres', 'CREATE DATABASE other');
$preloaded->safe_psql('other', 'CREATE EXTENSION idgen');
my $second = $preloaded->safe_psql('other', 'SELECT uuidv7_mono()');
cmp_ok($second, 'gt', $first, 'two databases share one word');

# Extension and library of different versions.
is($preloaded->safe_psql('postgres', 'SELECT extversion FROM pg_extension
    WHERE extname = $$idgen$$'), '1.0', 'the version is the one the tests know');
foreach my $case (
    [ '1.1', '55000' ], [ '2.0', '55000' ], [ '1.0.1', '55000' ], [ '10.0', '55000' ],
    [ '1.0', '00000' ], [ '0.9', '00000' ], [ '0.10', '00000' ])
{
    my ($version, $state) = @$case;
    $preloaded->safe_psql('postgres',
        "UPDATE pg_extension SET extversion = '$version' WHERE extname = 'idgen'");
    is(sqlstate_of($preloaded, 'SELECT uuidv7_mono()'), $state,
        "extension $version under library 1.0: $state");
}
$preloaded->stop;

done_testing();

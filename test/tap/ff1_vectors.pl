# The values that masks are tested with are those of an implementation that follows
# the standard by itself and reproduces the samples of NIST.
use strict;
use warnings FATAL => 'all';
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

my $vectors = "$FindBin::RealBin/../vectors";
plan skip_all => 'python3 is not installed' if system('python3 --version >/dev/null 2>&1') != 0;

command_ok([ "$vectors/ff1.py", '--check', "$vectors/ff1.tsv" ],
    'ff1.tsv has the values of ff1.py');
my $changed = slurp_file("$vectors/ff1.tsv");
$changed =~ s/(\d)$/($1 + 1) % 10/me;
my $copy = PostgreSQL::Test::Utils::tempdir . '/ff1.tsv';
append_to_file($copy, $changed);
command_fails([ "$vectors/ff1.py", '--check', $copy ], 'negative: a changed value is found');

done_testing();

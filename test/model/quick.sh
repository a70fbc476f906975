#!/usr/bin/env bash
# quick.sh: the exhaustive checks of lease.pml that fit into a test run, as TAP.
# The protocol must hold, and each mutant, a step left out, must be caught.  All
# of them, and at larger bounds: verify.sh and mutants.sh.

set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"
RUN=$(mktemp -d)
trap 'rm -rf "$RUN"' EXIT
export RUN MEM=3000

full=-DFULLHIST
fewer='-DFULLHIST -DT=3'

# NAME FLAGS...
holds() {
	report "$1" 0 "$(./check.sh "${@:2}")"
}
caught() {
	report "an id comes twice without it: $1" 1 "$(./check.sh "$2" -D"$2" "${@:3}" $full -DONLY -DP1)"
}
report() {
	if [[ $3 == *"errors $2 "* && $3 != *INCOMPLETE* && $3 != *TIMEOUT* ]]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		echo "# $3"
	fi
}

# shellcheck disable=SC2086  # the flags are words
{
	holds 'two servers, a crash, a worker that dies' V3 $fewer -DCRASHES=1 -DDEATHS=1
	holds 'a statement whose outcome the worker lacks' V5 $fewer -DLOST=1 -DCRASHES=1
	holds 'two servers of one name' V19 $fewer -DCLONE -DLOST=1
	holds 'a table that goes back in time, fenced' V28 $full -DRESTORE -DEMAX=2
	caught 'GEN is read before LEASE' M1
	caught 'GEN moves on when a lease is given back' M2B
	caught 'LEASE is cleared before that' M2C
	caught 'GEN is raised before LEASE is set' M3
	caught 'a range begins at the end of the last one' M5 -DCRASHES=1
	caught 'the table is renewed before LEASE' M6B
	caught 'a renewal needs the epoch' M7
	caught 'the time of the last id is not given back' M8
	caught 'the time checked is that in the id' M10
	caught 'a new worker adopts no row' M13 -DCRASHES=1
	caught 'the table is the last to hear of a give-back' M18
	caught 'a table that went back fences the time' M20 -DRESTORE
	caught '... and the holders' M21 -DRESTORE
}

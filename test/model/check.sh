#!/bin/bash
# check.sh NAME [-Dflag ...] -- one exhaustive check of lease.pml, in $RUN/NAME (./run);
# prints one line, and leaves run/NAME/trail.txt if there was a counterexample.
# Environment: MEM (MB), TMO (s), DEPTH, CFLAGS_X (for pan.c), PANARG.
here=$(cd "$(dirname "$0")" && pwd)
name=$1; shift
d=${RUN:-$here/run}/$name; mkdir -p "$d"; cd "$d" || exit 1
rm -f lease.pml lease.pml.trail trail.txt; cp "$here/lease.pml" lease.pml
spin -a "$@" lease.pml > spin.log 2>&1 || { echo "$name spin failed"; cat spin.log; exit 1; }
gcc -O2 -w -DSAFETY -DVECTORSZ=1024 -DMEMLIM=${MEM:-6000} ${CFLAGS_X} -o pan pan.c 2> gcc.log || { echo "$name gcc failed"; cat gcc.log; exit 1; }
timeout -s INT ${TMO:-300} nice -n 5 ./pan -m${DEPTH:-1000000} ${PANARG} > pan.log 2>&1
rc=$?
if [ -f lease.pml.trail ]; then
  spin -t "$@" lease.pml > trail.full 2>&1
  grep -E '^ *(witness|[AB]  |.*assert)' trail.full | sed 's/^ *//' > trail.txt
fi
awk -v name="$name" -v flags="$*" -v rc=$rc '
/assertion violated/ {viol=$0; sub(/.*assertion violated */,"",viol); sub(/ \(at depth.*/,"",viol)}
/depth reached/ {depth=$0; sub(/.*depth reached /,"",depth); sub(/,.*/,"",depth); err=$0; sub(/.*errors: /,"",err)}
/states, stored/ {st=$1}
/transitions/ {tr=$1}
/total actual memory|memory usage$/ {mem=$1}
/elapsed time/ {el=$4}
/Search not completed/ {inc=" (stopped at the error)"}
/max search depth too small|out of memory|memory exhausted|reached the MEMLIM/ {big=" INCOMPLETE"}
END {if (err+0==0 && inc!="") big=" INCOMPLETE"; if (err+0==0) inc="";
 if (err=="") big=" TIMEOUT";
 printf "%-8s %s | errors %s %s | states %s trans %s depth %s mem %.0f MB time %s s%s%s\n", name, flags, err, viol, st, tr, depth, mem, el, inc, big}' pan.log
rm -f pan pan.?

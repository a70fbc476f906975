/*
 * lease.pml -- node leases for snowflake ids, as a SPIN model
 *
 * An id is (t, n, s): timestamp, node, sequence.  A server may issue ids of
 * node n only with timestamps that a row of the lease table granted to it.
 *
 * What is modelled
 *   server   two shared words, each read and written atomically:
 *              gen    (t, s) of the last id, or of a mark put by the worker
 *              lease  (until, node), 0 when none
 *            some backends that issue ids, and one worker that keeps the lease
 *   table    one row per node: (holder, epoch, until).  One transaction is one
 *            atomic step.  "from" is handed to the worker; nobody reads it back
 *   faults   server crash (both words and all its processes lost, the table
 *            kept); worker death (words kept, a new worker starts); lost
 *            statements (sent, the worker stops waiting, the database runs it
 *            at any later time or never, even after that server crashed)
 *   SIGSTOP  needs nothing: any process may rest between any two steps
 *   clocks   need no state: EVERY clock read, of a server or of the lease
 *            database, returns an arbitrary value.  Steps back, steps forward,
 *            drift and disagreement are all contained in that
 *
 * Reductions, each of them exact
 *   - The value of a clock read is arbitrary, so it makes no difference when it
 *     is drawn: the backend draws it in the same step as its CAS.
 *   - A CAS loop whose new value depends on the old value alone is one atomic
 *     step: failed rounds have no effect, and in the round that succeeds the
 *     word did not change between its read and its CAS.
 *   - In one life of a server gen only grows (asserted in setgen), so a backend
 *     that read a value of gen which has been replaced since will fail its CAS,
 *     whatever it does before that; it returns to the start at once.  -DSTALE
 *     turns this off (for mutants that break its premise, and to cross-check).
 *   - Witness.  The initial step picks one (t, s); the node is 0, as nodes are
 *     interchangeable.  The ghost bits follow that one id only.  All picks are
 *     explored, so every id is covered, and no history of ids is stored.
 *     -DFULLHIST stores the history instead (to cross-check, small bounds).
 *   - "now is behind by more than the limit: error" only takes behaviour away
 *     (an error without a change is always possible), so it is left out.
 *
 * Properties
 *   P1  no (t, n, s) is returned twice, by anyone
 *   P2  ids a server returns for a node strictly increase in (t, s), in the
 *       order of their CAS, across crashes too; and, within one life of a
 *       server, over all nodes together
 *   P3  t is inside a range granted for that node to that server, in its
 *       present life, and not given back
 *   P4  a call that fails leaves gen as it was (only a matter of availability)
 *   P1 to P3 are checked; with -DONLY, just those named by -DP1 -DP2 -DP3 -DP4.
 *
 *   -DRESTORE  the table goes back to an older state once, and is fenced
 *
 * Mutants are flags M...; see PROTOCOL.md.  -DSHOW makes trails readable.
 */

/* ----------------------------------------------------------------- bounds */
#ifndef T
#define T 4                 /* timestamps 1..T-1, until <= T                */
#endif
#ifndef S
#define S 2                 /* sequence 0..S-1                              */
#endif
#ifndef TTL
#define TTL 1               /* an acquisition's; renewals add any amount    */
#endif
#ifndef NODES
#define NODES 1
#endif
#ifndef EMAX
#define EMAX 3              /* acquisitions per row                         */
#endif
#ifndef BA
#define BA 1                /* backends of server A                         */
#endif
#ifndef BB
#define BB 1                /* backends of server B                         */
#endif
#ifndef CRASHES
#define CRASHES 0           /* server crashes, both servers together        */
#endif
#ifndef DEATHS
#define DEATHS 0            /* worker deaths with the shared words kept     */
#endif
#ifndef LOST
#define LOST 0              /* statements whose outcome the worker lacks    */
#endif
#ifndef KEEP
#define KEEP 0              /* 1: may acquire while it has a lease in use   */
#endif
#ifdef BSIMPLE              /* server B only takes node 0 over and issues   */
#define NODESOF(s) (s == 0 -> NODES : 1)
#define MAYKEEP(s) (s == 0 && KEEP)
#define SIMPLE(s)  (s == 1)
#else
#define NODESOF(s) NODES
#define MAYKEEP(s) KEEP
#define SIMPLE(s)  false
#endif

#ifndef ONLY
#define P1
#define P2
#define P3
#endif

#define NB (BA + BB)
#define HOME(b) (b < BA -> 0 : 1)

/* words: a stamp is t*S+s, so "+1" is the next stamp in (t, s) order        */
#define STAMP(t,s)   ((t) * S + (s))
#define TIME(g)      ((g) / S)
#define SEQ(g)       ((g) % S)
#define GENMAX       STAMP(T, S - 1)
#define LEASE(u,n)   ((u) * NODES + (n))
#define UNTIL(l)     ((l) / NODES)
#define NODE(l)      ((l) % NODES)

/* the name a server writes into the row                                    */
#ifdef CLONE                /* both servers go by one name (a copied disk)  */
#define ME(s) 1
#else
#define ME(s) ((s) + 1)
#endif

/* whose words a worker acts on                                             */
#ifdef TWOWORKERS           /* both workers run on server A at once; no B   */
#undef HOME
#define HOME(b) 0
#undef ME
#define ME(s) 1
#define SRV(s) 0
#else
#define SRV(s) (s)
#endif

#ifdef SHOW
#define SAY(x) printf x;
#define WHO (65 + sv)
#else
#define SAY(x)
#endif

/* ------------------------------------------------------------- the system */
byte gen[2], lease[2];                               /* shared words       */
byte holder[NODES], epoch[NODES], until[NODES];      /* the lease table    */

/* backend: where it is and what it has read                                */
#define B_IDLE  0
#define B_READ2 1
#define B_CAS   2
byte bpc[NB], bgen[NB], blease[NB];

/* worker: where it is and what it knows (lost when it dies)                */
#define W_DEAD   0
#define W_IDLE   1          /* has no lease it may renew or give back       */
#define W_HAVE   2          /* (cn, ce) is the lease it wrote to the word   */
#define W_RAISE  3          /* acquisition committed: raise gen             */
#define W_SET    4          /* gen raised: write lease                      */
#define W_RSET   5          /* renewal committed: write lease               */
#define W_REL1   6          /* give back: clear lease                       */
#define W_REL2   7          /*            advance gen                       */
#define W_REL3   8          /*            table                             */
#define W_OLD2   9          /* give back the kept lease: advance gen        */
#define W_OLD3  10          /*                           table              */
#define W_CLR1  11          /* new worker: clear lease                      */
#define W_CLR2  12          /*             advance gen                      */
#define W_CLR0  13          /* install with -DCLEARFIRST: clear, then raise */
byte wpc[2];
byte cn[2], ce[2];          /* lease in use: node+1 (0 none), its epoch     */
byte kn[2], ke[2];          /* lease kept from before                       */
byte wfrom[2], wuntil[2];   /* what the last transaction returned           */
byte whigh[2];              /* no id has a t above this                     */

/* a statement that nobody waits for any more, one per server               */
#define O_NONE 0
#define O_ACQ  1
#define O_RNW  2
#define O_REL  3
byte okind[2], onode[2], oepoch[2], ohigh[2];

byte crashes = CRASHES, deaths = DEATHS, lost = LOST;

#ifdef M13
byte rfrom[NODES];          /* the row's "from", read back by an adopter    */
#endif

#ifdef RESTORE
/* An older state of the table, which may come back; and, what the fence rests
 * on: its clock has by then reached the end of every range granted before.  */
byte oldholder[NODES], oldepoch[NODES], olduntil[NODES];
byte granted[NODES];        /* the greatest end that was ever granted       */
#define NOTE_END(n) \
	if \
	:: until[n] > granted[n] -> granted[n] = until[n] \
	:: else \
	fi;
#else
#define NOTE_END(n)
#endif

byte x_n, x_now, x_i, x_c, x_from; bool x_ok;  /* scratch, 0 between steps */

/* ------------------------------------------------------------ ghost state */
byte owner[NODES];          /* which server took the row, whatever its name */
#ifndef FULLHIST
byte wit_t, wit_s;          /* the witness id is (wit_t, 0, wit_s)          */
bool seen;                  /* P1: the witness has been returned            */
bool past[2];               /* P2: server returned an id of node 0 >= it    */
bool pastlife[2];           /* P2: same, any node, in this life             */
bool mine[2];               /* P3: (wit_t, node 0) is granted to server     */
#else
int  used[NODES];           /* P1: bit per stamp                            */
byte top[2*NODES];          /* P2: last stamp returned by server for node   */
byte toplife[2];            /* P2: same, any node, in this life             */
byte grants[2*NODES];       /* P3: bit per timestamp                        */
#endif

inline g_grant(gs, gn, lo, hi)       /* [lo, hi) of node gn now is gs's     */
{
#ifndef FULLHIST
	if
	:: gn == 0 && lo <= wit_t && wit_t < hi -> mine[gs] = true
	:: else
	fi
#else
	x_i = lo;
	do
	:: x_i < hi ->
		grants[(gs)*NODES+(gn)] = grants[(gs)*NODES+(gn)] | (1 << x_i); x_i++
	:: else -> break
	od;
	x_i = 0
#endif
}

inline g_ungrant(gs, gn, lo, hi)     /* gs gave [lo, hi) back               */
{
#ifndef FULLHIST
	if
	:: gn == 0 && lo <= wit_t && wit_t < hi -> mine[gs] = false
	:: else
	fi
#else
	x_i = lo;
	do
	:: x_i < hi ->
		grants[(gs)*NODES+(gn)] = grants[(gs)*NODES+(gn)] & (255 - (1 << x_i)); x_i++
	:: else -> break
	od;
	x_i = 0
#endif
}

inline g_crash(gs)                   /* a restarted server owns nothing     */
{
#ifndef FULLHIST
	mine[gs] = false; pastlife[gs] = false
#else
	x_i = 0;
	do
	:: x_i < NODES -> grants[(gs)*NODES+x_i] = 0; x_i++
	:: else -> break
	od;
	x_i = 0; toplife[gs] = 0
#endif
}

inline g_issue(gs, gn, gc)           /* gs returned (TIME(gc), gn, SEQ(gc)) */
{
#ifndef FULLHIST
#ifdef P3
	if
	:: gn == 0 && TIME(gc) == wit_t -> assert(mine[gs])
	:: else
	fi;
#endif
#ifdef P2
	if
	:: gc == STAMP(wit_t, wit_s) -> assert(!pastlife[gs])
	:: else
	fi;
	if
	:: gc == STAMP(wit_t, wit_s) && gn == 0 -> assert(!past[gs])
	:: else
	fi;
	if
	:: gc >= STAMP(wit_t, wit_s) -> pastlife[gs] = true
	:: else
	fi;
	if
	:: gc >= STAMP(wit_t, wit_s) && gn == 0 -> past[gs] = true
	:: else
	fi;
#endif
#ifdef P1
	if
	:: gc == STAMP(wit_t, wit_s) && gn == 0 -> assert(!seen); seen = true
	:: else
	fi;
#endif
	skip
#else
#ifdef P3
	assert((grants[(gs)*NODES+(gn)] >> TIME(gc)) & 1);
#endif
#ifdef P2
	assert(gc > toplife[gs]); toplife[gs] = gc;
	assert(gc > top[(gs)*NODES+(gn)]); top[(gs)*NODES+(gn)] = gc;
#endif
#ifdef P1
	assert(!((used[gn] >> (gc)) & 1));
#endif
	used[gn] = used[gn] | (1 << (gc))
#endif
}

/* --------------------------------------- table transactions, each one step */

/* Take a row that has run out, or the server's own.  Always a new epoch, and
 * always a range above everything that row ever granted and did not get back.
 * Results: x_ok, x_n the node, x_from its from, until[x_n] its until.        */
inline tx_acquire(sv)
{
	x_ok = false;
	select(x_n : 0 .. NODESOF(sv) - 1);
	select(x_now : 0 .. T);                 /* the database's clock      */
	if
	:: (until[x_n] <= x_now || holder[x_n] == ME(sv)) && epoch[x_n] < EMAX ->
#ifdef M5
		x_from = (x_now > 0 -> x_now : 1);
#else
		x_from = (x_now > until[x_n] -> x_now : until[x_n]);
#endif
		if
		:: x_from + TTL <= T ->
			x_ok = true;
#ifdef M15
			if                      /* mutant: epoch not renewed */
			:: holder[x_n] == ME(sv)
			:: else -> epoch[x_n]++
			fi;
#else
			epoch[x_n]++;
#endif
			holder[x_n] = ME(sv);
			until[x_n] = x_from + TTL;
			NOTE_END(x_n)
			owner[x_n] = SRV(sv);
#ifdef M13
			rfrom[x_n] = x_from;
#endif
			SAY(("%c  table: acquire node %d epoch %d [%d, %d)\n", WHO, x_n, epoch[x_n], x_from, until[x_n]))
			g_grant(SRV(sv), x_n, x_from, until[x_n])
		:: else
		fi
	:: else
	fi;
	x_now = 0
}

#ifdef M7
#define RNW_MATCH(s,n,e) true
#else
#ifdef M7E
#define RNW_MATCH(s,n,e) (holder[n] == ME(s))
#else
#ifdef M7H
#define RNW_MATCH(s,n,e) (epoch[n] == e)
#else
#define RNW_MATCH(s,n,e) (holder[n] == ME(s) && epoch[n] == e)
#endif
#endif
#endif

#ifdef M7R
#define REL_MATCH(s,n,e) (holder[n] == ME(s))
#else
#ifdef M7RR
#define REL_MATCH(s,n,e) true
#else
#ifdef M7H
#define REL_MATCH(s,n,e) (epoch[n] == e)
#else
#define REL_MATCH(s,n,e) (holder[n] == ME(s) && epoch[n] == e)
#endif
#endif
#endif

/* until := max(until, database clock + ttl); x_ok says whether it matched   */
inline tx_renew(sv, rn, re)
{
	x_ok = false;
	select(x_now : 0 .. T - TTL);           /* the database's clock      */
	if
	:: RNW_MATCH(sv, rn, re) ->
		x_ok = true;
		if
		:: x_now + TTL > until[rn] ->
			g_grant(owner[rn], rn, until[rn], x_now + TTL);
			until[rn] = x_now + TTL;
			NOTE_END(rn)
		:: else
		fi;
		SAY(("%c  table: renew node %d epoch %d, until %d\n", WHO, rn, re, until[rn]))
	:: else
	fi;
	x_now = 0
}

#ifdef M8
#define GIVEUP(high) (high)
#else
#define GIVEUP(high) ((high) + 1)
#endif

/* until := min(until, high + 1)                                             */
inline tx_release(sv, rn, re, high)
{
	if
	:: REL_MATCH(sv, rn, re) && GIVEUP(high) < until[rn] ->
		g_ungrant(owner[rn], rn, GIVEUP(high), until[rn]);
		until[rn] = GIVEUP(high);
		SAY(("%c  table: give back node %d epoch %d, until %d\n", WHO, rn, re, until[rn]))
	:: else
	fi
}

/* --------------------------------------------------------- the word gen */
#ifdef M1
#define HASGEN(b) (bpc[b] == B_CAS)
#else
#define HASGEN(b) (bpc[b] != B_IDLE)
#endif

inline setgen(sv, v)
{
#ifdef STALE
	gen[SRV(sv)] = v
#else
	assert(v >= gen[SRV(sv)]);
	if
	:: v != gen[SRV(sv)] ->
		gen[SRV(sv)] = v;
		x_i = 0;
		do
		:: x_i < NB ->
			if
			:: HOME(x_i) == SRV(sv) && HASGEN(x_i) ->
				bpc[x_i] = B_IDLE; bgen[x_i] = 0; blease[x_i] = 0
			:: else
			fi;
			x_i++
		:: else -> break
		od;
		x_i = 0
	:: else
	fi
#endif
}

/* ------------------------------------------------------------------ backend */
proctype Backend(byte b; byte sv)
{
end:	do
#ifndef M1
	/* 1: gen.  2: lease.  In this order                                 */
	:: atomic { bpc[b] == B_IDLE ->
		SAY(("%c  backend %d: reads gen (%d,%d)\n", WHO, b, TIME(gen[SRV(sv)]), SEQ(gen[SRV(sv)])))
		bgen[b] = gen[SRV(sv)]; bpc[b] = B_READ2 }

	:: atomic { bpc[b] == B_READ2 ->
		if
		:: lease[SRV(sv)] == 0 -> bgen[b] = 0; bpc[b] = B_IDLE  /* error  */
		:: else ->
			SAY(("%c  backend %d: reads lease until %d node %d\n", WHO, b, UNTIL(lease[SRV(sv)]), NODE(lease[SRV(sv)])))
			blease[b] = lease[SRV(sv)]; bpc[b] = B_CAS
		fi }
#else
	:: atomic { bpc[b] == B_IDLE && lease[SRV(sv)] != 0 ->
		SAY(("%c  backend %d: reads lease until %d node %d\n", WHO, b, UNTIL(lease[SRV(sv)]), NODE(lease[SRV(sv)])))
		blease[b] = lease[SRV(sv)]; bpc[b] = B_READ2 }

	:: atomic { bpc[b] == B_READ2 ->
		SAY(("%c  backend %d: reads gen (%d,%d)\n", WHO, b, TIME(gen[SRV(sv)]), SEQ(gen[SRV(sv)])))
		bgen[b] = gen[SRV(sv)]; bpc[b] = B_CAS }
#endif
	/* 3: clock.  4: candidate.  5: its t against until.  6: CAS         */
	:: atomic { bpc[b] == B_CAS ->
		select(x_now : 0 .. T - 1);
		x_ok = true;
		if
		:: x_now > TIME(bgen[b]) -> x_c = STAMP(x_now, 0)
		:: else ->
			x_c = bgen[b] + 1;
			if
			:: SEQ(x_c) == 0 -> x_ok = false /* full: wait, retry */
			:: else
			fi
		fi;
#ifdef M10
		skip;           /* checked earlier, on an earlier clock read */
#else
#ifdef M4
		if
		:: x_now >= UNTIL(blease[b]) -> x_ok = false
		:: else
		fi;
#else
#ifdef M6A
		if
		:: x_ok && gen[SRV(sv)] == bgen[b] ->
			x_n = NODE(blease[b]); x_from = UNTIL(blease[b]);
			setgen(sv, x_c);
			if
			:: TIME(x_c) >= x_from ->       /* error, gen changed */
				SAY(("%c  backend %d: error, gen is (%d,%d)\n", WHO, b, TIME(x_c), SEQ(x_c)))
#ifdef P4
				assert(false);
#endif
				skip
			:: else ->
				SAY(("%c  backend %d: returns (%d,%d,%d)\n", WHO, b, TIME(x_c), x_n, SEQ(x_c)))
				g_issue(SRV(sv), x_n, x_c)
			fi
		:: else
		fi;
		x_from = 0; x_ok = false;
#else
		if
		:: TIME(x_c) >= UNTIL(blease[b]) -> x_ok = false /* error */
		:: else
		fi;
#endif
#endif
#endif
#ifdef M1R
		/* mutant: after a failed CAS goes on with the value it saw, */
		/* not reading lease again                                   */
		if
		:: x_ok && gen[SRV(sv)] != bgen[b] -> bgen[b] = gen[SRV(sv)]; goto again
		:: else
		fi;
#endif
		if
#ifdef M9
		:: x_ok ->              /* mutant: plain write               */
#else
		:: x_ok && gen[SRV(sv)] == bgen[b] ->
#endif
			x_n = NODE(blease[b]);
			setgen(sv, x_c);
			SAY(("%c  backend %d: returns (%d,%d,%d)\n", WHO, b, TIME(x_c), x_n, SEQ(x_c)))
			g_issue(SRV(sv), x_n, x_c)
		:: else
		fi;
		bpc[b] = B_IDLE; bgen[b] = 0; blease[b] = 0;
#ifdef M1R
again:
#endif
		x_now = 0; x_c = 0; x_n = 0; x_ok = false }
	od
}

/* ------------------------------------------------------------------- worker */

/* gen := something the next id of which has t >= from; always a new value   */
#ifdef RAISE_AT_FROM
#define FLOOR(from) STAMP(from, 0)
#else
#define FLOOR(from) (STAMP(from, 0) - 1)
#endif
#ifdef M17
#define RAISED(g, from) ((g) < FLOOR(from) -> FLOOR(from) : (g))
#else
#define RAISED(g, from) ((g) < FLOOR(from) -> FLOOR(from) : (g) + 1)
#endif

/* t that no id is above: of the value the CAS replaced, or of the new one   */
#ifdef HIGH_AFTER
#define HIGH(g) TIME((g) + 1)
#else
#define HIGH(g) TIME(g)
#endif

#ifdef M3
#define W_INSTALL W_SET
#else
#ifdef CLEARFIRST
#define W_INSTALL W_CLR0
#else
#define W_INSTALL W_RAISE
#endif
#endif

inline advance(sv)          /* gen := the next stamp; the fence             */
{
	whigh[sv] = HIGH(gen[SRV(sv)]);
	x_c = gen[SRV(sv)] + 1;
	setgen(sv, x_c);
	x_c = 0;
	SAY(("%c  worker: advances gen to (%d,%d), high %d\n", WHO, TIME(gen[SRV(sv)]), SEQ(gen[SRV(sv)]), whigh[sv]))
}

inline clear(sv)
{
	lease[SRV(sv)] = 0;
	SAY(("%c  worker: clears lease\n", WHO))
}

inline forget(sv)           /* the worker's memory                          */
{
	cn[sv] = 0; ce[sv] = 0; kn[sv] = 0; ke[sv] = 0;
	wfrom[sv] = 0; wuntil[sv] = 0; whigh[sv] = 0
}

proctype Worker(byte sv)
{
end:	do
	/* ---- start: at once, or after a clean slate                       */
	:: atomic { wpc[sv] == W_DEAD ->
		SAY(("%c  worker: starts\n", WHO))
		wpc[sv] = W_IDLE }
	:: atomic { wpc[sv] == W_DEAD && (lease[SRV(sv)] != 0 || gen[SRV(sv)] != 0) ->
		SAY(("%c  worker: starts\n", WHO))
		wpc[sv] = W_CLR1 }
	:: atomic { wpc[sv] == W_CLR1 -> clear(sv); wpc[sv] = W_CLR2 }
	:: atomic { wpc[sv] == W_CLR2 && gen[SRV(sv)] < GENMAX ->
		advance(sv); whigh[sv] = 0; wpc[sv] = W_IDLE }
#ifdef M13
	/* mutant: adopts a row that bears our name, raising gen to its from */
	:: atomic { wpc[sv] == W_DEAD ->
		select(x_n : 0 .. NODES - 1);
		if
		:: holder[x_n] == ME(sv) ->
			cn[sv] = x_n + 1; ce[sv] = epoch[x_n];
			wfrom[sv] = rfrom[x_n]; wuntil[sv] = until[x_n];
			SAY(("%c  worker: starts, adopts node %d epoch %d [%d, %d)\n", WHO, x_n, ce[sv], wfrom[sv], wuntil[sv]))
			wpc[sv] = W_INSTALL
		:: else
		fi;
		x_n = 0 }
#endif
#ifdef M16
	/* mutant: a new worker gives back what bears our name               */
	:: atomic { wpc[sv] == W_DEAD && holder[0] == ME(sv) ->
		SAY(("%c  worker: starts, gives back node 0\n", WHO))
		cn[sv] = 1; ce[sv] = epoch[0]; wpc[sv] = W_REL1 }
#endif

	/* ---- acquire.  With a lease in use this is a second one; the first */
	/*      is kept or, if it was the same row, is gone                   */
	:: atomic { (wpc[sv] == W_IDLE || (wpc[sv] == W_HAVE && MAYKEEP(sv))) ->
		tx_acquire(sv);
		if
		:: x_ok ->
			if
			:: cn[sv] != 0 && cn[sv] != x_n + 1 ->
				kn[sv] = cn[sv]; ke[sv] = ce[sv]
			:: else ->
				if
				:: kn[sv] == x_n + 1 -> kn[sv] = 0; ke[sv] = 0
				:: else
				fi
			fi;
			cn[sv] = x_n + 1; ce[sv] = epoch[x_n];
			wfrom[sv] = x_from; wuntil[sv] = until[x_n];
			wpc[sv] = W_INSTALL
		:: else
		fi;
		x_n = 0; x_from = 0; x_ok = false }

	/* ---- install: gen first, then lease                               */
#ifdef CLEARFIRST
	:: atomic { wpc[sv] == W_CLR0 -> clear(sv); wpc[sv] = W_RAISE }
#endif
	:: atomic { wpc[sv] == W_RAISE && gen[SRV(sv)] < GENMAX ->
#if defined(CLEARFIRST) || defined(M11)
		whigh[sv] = (kn[sv] != 0 -> TIME(gen[SRV(sv)]) : 0);
#endif
		x_c = RAISED(gen[SRV(sv)], wfrom[sv]);
		setgen(sv, x_c);
		x_c = 0; wfrom[sv] = 0;
		SAY(("%c  worker: raises gen to (%d,%d)\n", WHO, TIME(gen[SRV(sv)]), SEQ(gen[SRV(sv)])))
#ifdef M3
		wpc[sv] = W_HAVE }
#else
		wpc[sv] = W_SET }
#endif
	:: atomic { wpc[sv] == W_SET ->
		lease[SRV(sv)] = LEASE(wuntil[sv], cn[sv] - 1);
		SAY(("%c  worker: writes lease until %d node %d\n", WHO, wuntil[sv], cn[sv] - 1))
		wuntil[sv] = 0;
#ifdef M3
		wpc[sv] = W_RAISE }
#else
#if defined(CLEARFIRST) || defined(M11)
		/* CLEARFIRST: the raise was the fence of the old lease as    */
		/* well, its rest may go back now.  M11, mutant: takes the    */
		/* raise for that fence, though the word was not cleared      */
		/* before                                                     */
		if
		:: kn[sv] != 0 -> wpc[sv] = W_OLD3
		:: whigh[sv] = 0; wpc[sv] = W_HAVE
		fi }
#else
		wpc[sv] = W_HAVE }
#endif
#endif

	/* ---- renew: table first, then lease                               */
#ifndef M6B
	:: atomic { wpc[sv] == W_HAVE && !SIMPLE(sv) ->
		tx_renew(sv, cn[sv] - 1, ce[sv]);
		if
		:: x_ok -> wuntil[sv] = until[cn[sv] - 1]; wpc[sv] = W_RSET
		:: else -> cn[sv] = 0; ce[sv] = 0; wpc[sv] = W_IDLE
		fi;
		x_ok = false }
	:: atomic { wpc[sv] == W_RSET ->
		lease[SRV(sv)] = LEASE(wuntil[sv], cn[sv] - 1);
		SAY(("%c  worker: writes lease until %d node %d\n", WHO, wuntil[sv], cn[sv] - 1))
		wuntil[sv] = 0; wpc[sv] = W_HAVE }
#else
	/* mutant: the word is raised before the table has agreed            */
	:: atomic { wpc[sv] == W_HAVE ->
		select(x_now : UNTIL(lease[SRV(sv)]) .. T);
		lease[SRV(sv)] = LEASE(x_now, cn[sv] - 1);
		SAY(("%c  worker: writes lease until %d node %d\n", WHO, x_now, cn[sv] - 1))
		x_now = 0; wpc[sv] = W_RSET }
	:: atomic { wpc[sv] == W_RSET ->
		tx_renew(sv, cn[sv] - 1, ce[sv]);
		if
		:: x_ok -> wpc[sv] = W_HAVE
		:: else -> cn[sv] = 0; ce[sv] = 0; wpc[sv] = W_IDLE
		fi;
		x_ok = false }
#endif

	/* ---- give back the lease in use: lease, gen, table                */
#ifdef M2A
	/* mutant: high, then clear, no advance                              */
	:: atomic { wpc[sv] == W_HAVE ->
		whigh[sv] = TIME(gen[SRV(sv)]);
		SAY(("%c  worker: high %d\n", WHO, whigh[sv]))
		wpc[sv] = W_REL1 }
	:: atomic { wpc[sv] == W_REL1 -> clear(sv); wpc[sv] = W_REL3 }
#else
#ifdef M2B
	/* mutant: clear, high, no advance                                   */
	:: atomic { wpc[sv] == W_HAVE -> clear(sv); wpc[sv] = W_REL2 }
	:: atomic { wpc[sv] == W_REL2 ->
		whigh[sv] = TIME(gen[SRV(sv)]);
		SAY(("%c  worker: high %d\n", WHO, whigh[sv]))
		wpc[sv] = W_REL3 }
#else
#ifdef M18
	/* mutant: table first, then the words                               */
	:: atomic { wpc[sv] == W_HAVE ->
		tx_release(sv, cn[sv] - 1, ce[sv], TIME(gen[SRV(sv)]));
		wpc[sv] = W_REL1 }
	:: atomic { wpc[sv] == W_REL1 -> clear(sv); wpc[sv] = W_REL2 }
	:: atomic { wpc[sv] == W_REL2 && gen[SRV(sv)] < GENMAX ->
		advance(sv); wpc[sv] = W_REL3 }
#else
#ifdef M2C
	/* mutant: advance, then clear                                       */
	:: atomic { wpc[sv] == W_HAVE && gen[SRV(sv)] < GENMAX ->
		advance(sv); wpc[sv] = W_REL1 }
	:: atomic { wpc[sv] == W_REL1 -> clear(sv); wpc[sv] = W_REL3 }
#else
	:: atomic { wpc[sv] == W_HAVE && !SIMPLE(sv) -> clear(sv); wpc[sv] = W_REL2 }
#ifdef M16
	:: atomic { wpc[sv] == W_REL1 -> clear(sv); wpc[sv] = W_REL2 }
#endif
#ifdef M9W
	/* mutant: the advance is a read and a plain write                   */
	:: atomic { wpc[sv] == W_REL2 && gen[SRV(sv)] < GENMAX ->
		whigh[sv] = gen[SRV(sv)]; wpc[sv] = W_REL1 }
	:: atomic { wpc[sv] == W_REL1 ->
		x_c = whigh[sv] + 1; setgen(sv, x_c); x_c = 0;
		whigh[sv] = HIGH(whigh[sv]);
		SAY(("%c  worker: writes gen (%d,%d), high %d\n", WHO, TIME(gen[SRV(sv)]), SEQ(gen[SRV(sv)]), whigh[sv]))
		wpc[sv] = W_REL3 }
#else
	:: atomic { wpc[sv] == W_REL2 && gen[SRV(sv)] < GENMAX ->
		advance(sv); wpc[sv] = W_REL3 }
#endif
#endif
#endif
#endif
#endif
	:: atomic { wpc[sv] == W_REL3 ->
		tx_release(sv, cn[sv] - 1, ce[sv], whigh[sv]);
		cn[sv] = 0; ce[sv] = 0; whigh[sv] = 0; wpc[sv] = W_IDLE }

#if KEEP
	/* ---- the kept lease: renew it and go back to it, or give it back.  */
	/*      The word no longer names it; before it is given back, gen     */
	/*      must advance once more, after the word stopped naming it      */
	:: atomic { kn[sv] != 0 && (wpc[sv] == W_IDLE || wpc[sv] == W_HAVE) ->
		tx_renew(sv, kn[sv] - 1, ke[sv]);
		if
		:: x_ok ->
			x_n = cn[sv]; cn[sv] = kn[sv]; kn[sv] = x_n;
			x_n = ce[sv]; ce[sv] = ke[sv]; ke[sv] = x_n;
			x_n = 0;
			wuntil[sv] = until[cn[sv] - 1]; wpc[sv] = W_RSET
		:: else -> kn[sv] = 0; ke[sv] = 0
		fi;
		x_ok = false }
	:: atomic { kn[sv] != 0 && (wpc[sv] == W_IDLE || wpc[sv] == W_HAVE) ->
		wpc[sv] = W_OLD2 }
	:: atomic { wpc[sv] == W_OLD2 && gen[SRV(sv)] < GENMAX ->
		advance(sv); wpc[sv] = W_OLD3 }
	:: atomic { wpc[sv] == W_OLD3 ->
		tx_release(sv, kn[sv] - 1, ke[sv], whigh[sv]);
		kn[sv] = 0; ke[sv] = 0; whigh[sv] = 0;
		wpc[sv] = (cn[sv] != 0 -> W_HAVE : W_IDLE) }
#endif

#if LOST > 0
	/* ---- statements lost on the way: the worker goes on without       */
	/*      knowing.  After a lost give-back that lease is dead to it    */
	:: atomic { lost > 0 && okind[sv] == O_NONE &&
		    (wpc[sv] == W_IDLE || (wpc[sv] == W_HAVE && MAYKEEP(sv))) ->
		SAY(("%c  worker: sends acquire, hears nothing\n", WHO))
		lost--; okind[sv] = O_ACQ }
	:: atomic { lost > 0 && okind[sv] == O_NONE && wpc[sv] == W_HAVE ->
		SAY(("%c  worker: sends renew node %d epoch %d, hears nothing\n", WHO, cn[sv] - 1, ce[sv]))
		lost--; okind[sv] = O_RNW;
		onode[sv] = cn[sv] - 1; oepoch[sv] = ce[sv] }
	:: atomic { lost > 0 && okind[sv] == O_NONE && wpc[sv] == W_REL3 ->
		SAY(("%c  worker: sends give back node %d epoch %d, hears nothing\n", WHO, cn[sv] - 1, ce[sv]))
		lost--; okind[sv] = O_REL;
		onode[sv] = cn[sv] - 1; oepoch[sv] = ce[sv];
		ohigh[sv] = whigh[sv]; whigh[sv] = 0;
#ifdef M14
		wpc[sv] = W_HAVE }      /* mutant: the lease is used again   */
#else
		cn[sv] = 0; ce[sv] = 0; wpc[sv] = W_IDLE }
#endif
#if KEEP
	:: atomic { lost > 0 && okind[sv] == O_NONE && wpc[sv] == W_OLD3 ->
		SAY(("%c  worker: sends give back node %d epoch %d, hears nothing\n", WHO, kn[sv] - 1, ke[sv]))
		lost--; okind[sv] = O_REL;
		onode[sv] = kn[sv] - 1; oepoch[sv] = ke[sv];
		ohigh[sv] = whigh[sv]; whigh[sv] = 0;
		kn[sv] = 0; ke[sv] = 0;
		wpc[sv] = (cn[sv] != 0 -> W_HAVE : W_IDLE) }
#endif
#endif

#if DEATHS > 0
	/* ---- death; a new worker starts only when this one is gone        */
	:: atomic { deaths > 0 && wpc[sv] != W_DEAD ->
		SAY(("%c  worker: dies\n", WHO))
		deaths--; forget(sv); wpc[sv] = W_DEAD }
#endif
	od
}

/* -------------------------------------------- the database's late statements */
proctype Late(byte sv)
{
end:	do
	:: atomic { okind[sv] == O_ACQ ->
		SAY(("%c  late statement:\n", WHO))
		tx_acquire(sv);         /* nobody hears of it                */
		x_n = 0; x_from = 0; x_ok = false;
		okind[sv] = O_NONE }
	:: atomic { okind[sv] == O_RNW ->
		SAY(("%c  late statement:\n", WHO))
		tx_renew(sv, onode[sv], oepoch[sv]);
		x_ok = false;
		okind[sv] = O_NONE; onode[sv] = 0; oepoch[sv] = 0 }
	:: atomic { okind[sv] == O_REL ->
		SAY(("%c  late statement:\n", WHO))
		tx_release(sv, onode[sv], oepoch[sv], ohigh[sv]);
		okind[sv] = O_NONE; onode[sv] = 0; oepoch[sv] = 0; ohigh[sv] = 0 }
	od
}

/* --------------------------------------------------------------------- crash */
proctype Crash(byte sv)
{
end:	do
	:: atomic { crashes > 0 ->
		SAY(("%c  server crashes\n", WHO))
		crashes--;
		gen[SRV(sv)] = 0; lease[SRV(sv)] = 0;
		forget(sv); wpc[sv] = W_DEAD;
#ifdef TWOWORKERS
		forget(1); wpc[1] = W_DEAD;
#endif
		x_i = 0;
		do
		:: x_i < NB ->
			if
			:: HOME(x_i) == SRV(sv) ->
				bpc[x_i] = B_IDLE; bgen[x_i] = 0; blease[x_i] = 0
			:: else
			fi;
			x_i++
		:: else -> break
		od;
		x_i = 0;
		g_crash(SRV(sv)) }
	od
}

#ifdef M19
/* mutant: an older copy of the table is put back                            */
proctype Restore()
{
	atomic {
		SAY(("A  table: row 0 is as it was at first\n"))
		until[0] = 1; holder[0] = 0; epoch[0] = 0 }
}
#endif

#ifdef RESTORE
/* The table goes back in time: a promoted standby, a backup.  The first
 * transaction that finds another timeline fences every row.                 */
proctype Restore()
{
	atomic {                        /* the state that will come back     */
		x_i = 0;
		do
		:: x_i < NODES ->
			oldholder[x_i] = holder[x_i]; oldepoch[x_i] = epoch[x_i];
			olduntil[x_i] = until[x_i]; x_i++
		:: else -> break
		od;
		x_i = 0
	}
	atomic {
		SAY(("A  table: is as it was, and fenced\n"))
		x_i = 0;
		do
		:: x_i < NODES ->
#ifdef M21
			holder[x_i] = oldholder[x_i];   /* mutant: who held it goes on */
			epoch[x_i] = oldepoch[x_i];
#else
			holder[x_i] = 0;
			epoch[x_i] = oldepoch[x_i] + 1;
#endif
#ifdef M20
			until[x_i] = olduntil[x_i];     /* mutant: no time is fenced   */
#else
			until[x_i] = granted[x_i];
			if
			:: olduntil[x_i] > until[x_i] -> until[x_i] = olduntil[x_i]
			:: else
			fi;
#endif
			x_i++
		:: else -> break
		od;
		x_i = 0
	}
}
#endif

init {
	atomic {
		x_i = 0;
		do
		:: x_i < NODES -> until[x_i] = 1; x_i++
		:: else -> break
		od;
#ifndef FULLHIST
		select(wit_t : 1 .. T - 1);
		select(wit_s : 0 .. S - 1);
		SAY(("witness (%d,0,%d)\n", wit_t, wit_s))
#endif
		x_i = 0;
		do
		:: x_i < NB -> run Backend(x_i, HOME(x_i)); x_i++
		:: else -> break
		od;
		x_i = 0;
		run Worker(0); run Worker(1);
#if defined(M19) || defined(RESTORE)
		run Restore();
#endif
#if LOST > 0
		run Late(0); run Late(1);
#endif
#if CRASHES > 0
		run Crash(0);
#ifndef TWOWORKERS
		run Crash(1);
#endif
#endif
		skip
	}
}

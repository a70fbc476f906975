/*
 * coordinator_remote.h
 *		What is asked of a coordinator, asked of another server.
 */
#ifndef IDGEN_COORDINATOR_REMOTE_H
#define IDGEN_COORDINATOR_REMOTE_H

#include "coordinator.h"

/* coordinator_remote.c; each raises what the coordinator raises, or 08006 */
extern void remote_begin(const char *source);
extern bool
remote_reserve_blocks(Demand *demands, int count, const char *proc);
extern bool remote_prune(void);
extern bool remote_lease_step(LeaseStep step,
							  NodeLease *lease,
							  TimestampTz end,
							  Verdict *verdict,
							  bool await);

/* The words for kinds, states and steps, as functions there take and give. */
extern const char *const demand_kind_names[];
extern const char *const row_state_names[];
extern const char *const lease_step_names[];
extern int coordinator_word(const char *word, const char *const *words);

#endif

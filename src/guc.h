/*
 * guc.h
 *		The settings of idgen.
 */
#ifndef IDGEN_GUC_H
#define IDGEN_GUC_H

/* Read by whoever waits. */
extern int idgen_timeout;

/* Read by workers alone. */
extern int idgen_worker_idle_timeout;
extern double idgen_segment_prefetch;
extern bool idgen_segment_log;
extern int idgen_segment_log_retention;

/* guc.c */
extern void guc_define(void);

#endif

/*
 * codec_ksuid.h
 *		KSUIDs: 20 bytes, and 27 characters of base 62 for them.
 */
#ifndef IDGEN_CODEC_KSUID_H
#define IDGEN_CODEC_KSUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KSUID_BYTES 20
#define KSUID_LENGTH 27

/* codec_ksuid.c */
extern void ksuid_to_text(const uint8_t id[KSUID_BYTES], char *text);
extern bool
ksuid_from_text(const char *text, size_t length, uint8_t id[KSUID_BYTES]);

#endif

/*
 * codec_base32.h
 *		26 characters of Crockford's base 32 for 128 bits.
 */
#ifndef IDGEN_CODEC_BASE32_H
#define IDGEN_CODEC_BASE32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE32_LENGTH 26

/* What base32_decode() takes besides digits and lower case. */
#define BASE32_UPPER 1   /* upper case */
#define BASE32_LENIENT 2 /* I and L as 1, O as 0; hyphens are passed over */

/* codec_base32.c */
extern void base32_encode(const uint8_t id[16], bool upper, char *text);
extern bool
base32_decode(const char *text, size_t length, int reading, uint8_t id[16]);
extern bool base32_has(char c);

#endif

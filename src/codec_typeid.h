/*
 * codec_typeid.h
 *		TypeIDs: a prefix that names the type, and an id in base 32.
 */
#ifndef IDGEN_CODEC_TYPEID_H
#define IDGEN_CODEC_TYPEID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TYPEID_PREFIX_MAX 63

typedef enum TypeidFault
{
	TYPEID_OK,
	TYPEID_PREFIX_MISSING,
	TYPEID_PREFIX_LONG,
	TYPEID_PREFIX_CHARACTER,
	TYPEID_PREFIX_UNDERSCORE,
	TYPEID_SUFFIX_LENGTH,
	TYPEID_SUFFIX_CHARACTER,
	TYPEID_SUFFIX_OVERFLOW,
} TypeidFault;

/* codec_typeid.c */
extern TypeidFault typeid_prefix_fault(const char *prefix, size_t length);
extern TypeidFault typeid_parse(const char *text,
								size_t length,
								size_t *prefix_length,
								uint8_t id[16]);
extern size_t typeid_compose(const char *prefix,
							 size_t length,
							 const uint8_t id[16],
							 char *text);

#endif

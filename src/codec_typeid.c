/*
 * codec_typeid.c
 *		TypeIDs (specification 0.3): prefix_suffix, or the suffix alone.
 *
 * The prefix has 0 to 63 letters a to z, with underscores inside it only; the
 * suffix is the 128-bit id in lower-case base 32. The last underscore parts the
 * two, and there is none where there is no prefix. So each pair of prefix and
 * id has one text, of 90 bytes at the most, and each text one pair.
 *
 * Plain C, without a server: the fuzzer links it.
 */
#include "codec_typeid.h"

#include <string.h>

#include "codec_base32.h"

/* TYPEID_OK for what may be a prefix, the empty one too. */
TypeidFault
typeid_prefix_fault(const char *prefix, size_t length)
{
	if (length > TYPEID_PREFIX_MAX)
		return TYPEID_PREFIX_LONG;
	for (size_t i = 0; i < length; i++)
		if ((prefix[i] < 'a' || prefix[i] > 'z') && prefix[i] != '_')
			return TYPEID_PREFIX_CHARACTER;
	if (length > 0 && (prefix[0] == '_' || prefix[length - 1] == '_'))
		return TYPEID_PREFIX_UNDERSCORE;
	return TYPEID_OK;
}

/* Why a text that base32_decode() refused is no suffix. */
static TypeidFault
suffix_fault(const char *suffix, size_t length)
{
	if (length != BASE32_LENGTH)
		return TYPEID_SUFFIX_LENGTH;
	for (size_t i = 0; i < length; i++)
		if (!base32_has(suffix[i]))
			return TYPEID_SUFFIX_CHARACTER;
	return TYPEID_SUFFIX_OVERFLOW;
}

/* The results are written for TYPEID_OK only. */
TypeidFault
typeid_parse(const char *text,
			 size_t length,
			 size_t *prefix_length,
			 uint8_t id[16])
{
	size_t prefix_end = 0;
	size_t suffix_start = 0;
	TypeidFault fault;

	for (size_t i = length; i > 0 && suffix_start == 0; i--)
		if (text[i - 1] == '_')
		{
			prefix_end = i - 1;
			suffix_start = i;
		}
	if (suffix_start > 0 && prefix_end == 0)
		return TYPEID_PREFIX_MISSING;
	fault = typeid_prefix_fault(text, prefix_end);
	if (fault != TYPEID_OK)
		return fault;
	if (!base32_decode(text + suffix_start, length - suffix_start, 0, id))
		return suffix_fault(text + suffix_start, length - suffix_start);
	*prefix_length = prefix_end;
	return TYPEID_OK;
}

/* Writes a TypeID, without an end of string; the prefix must be faultless. */
size_t
typeid_compose(const char *prefix,
			   size_t length,
			   const uint8_t id[16],
			   char *text)
{
	if (length > 0)
	{
		memcpy(text, prefix, length);
		text[length++] = '_';
	}
	base32_encode(id, false, text + length);
	return length + BASE32_LENGTH;
}

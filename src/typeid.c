/*
 * typeid.c
 *		SQL functions for ids in base 32, with a prefix (TypeID) or without.
 *
 * What a client may bring, a decoder answers with NULL when it is malformed,
 * so that a broken URL is a row that is not found. typeid_check() is for
 * whoever wants the reason.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/uuid.h"

#include "codec_base32.h"
#include "texts.h"
#include "codec_typeid.h"
#include "compat.h"

SQL_FUNCTION(b32_encode);
SQL_FUNCTION(b32_decode);
SQL_FUNCTION(typeid_encode);
SQL_FUNCTION(typeid_decode);
SQL_FUNCTION(typeid_prefix);
SQL_FUNCTION(typeid_check);

Datum
b32_encode(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(text_from_uuid(PG_GETARG_UUID_P(0), false));
}

Datum
b32_decode(PG_FUNCTION_ARGS)
{
	pg_uuid_t *id = text_to_uuid(PG_GETARG_TEXT_PP(0), 0);

	if (id == NULL)
		PG_RETURN_NULL();
	PG_RETURN_UUID_P(id);
}

/* What the rule is that a TypeID breaks, for an error's detail. */
static const char *
fault_detail(TypeidFault fault)
{
	switch (fault)
	{
		case TYPEID_PREFIX_MISSING:
			return "There is an underscore, but no prefix before it.";
		case TYPEID_PREFIX_LONG:
			return "The prefix has more than 63 characters.";
		case TYPEID_PREFIX_CHARACTER:
			return "The prefix has a character other than a to z and "
				   "underscore.";
		case TYPEID_PREFIX_UNDERSCORE:
			return "The prefix begins or ends with an underscore.";
		case TYPEID_SUFFIX_LENGTH:
			return "The suffix has not 26 characters.";
		case TYPEID_SUFFIX_CHARACTER:
			return "The suffix has a character other than 0 to 9 and a to z "
				   "without i, l, o, u.";
		case TYPEID_SUFFIX_OVERFLOW:
			return "The suffix is greater than 7zzzzzzzzzzzzzzzzzzzzzzzzz, "
				   "128 bits.";
		case TYPEID_OK:
			break;
	}
	elog(ERROR, "unexpected fault of a TypeID: %d", (int) fault);
}

/* Raises 22023 for a prefix that no TypeID has. */
Datum
typeid_encode(PG_FUNCTION_ARGS)
{
	const text *prefix = PG_GETARG_TEXT_PP(0);
	size_t length = VARSIZE_ANY_EXHDR(prefix);
	TypeidFault fault = typeid_prefix_fault(VARDATA_ANY(prefix), length);
	text *encoded;

	if (fault != TYPEID_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no TypeID has prefix \"%s\"", text_quoted(prefix)),
				 errdetail_internal("%s", fault_detail(fault))));
	encoded = text_new(TYPEID_PREFIX_MAX + 1 + BASE32_LENGTH);
	length = typeid_compose(VARDATA_ANY(prefix),
							length,
							PG_GETARG_UUID_P(1)->data,
							VARDATA(encoded));
	SET_VARSIZE(encoded, length + VARHDRSZ);
	PG_RETURN_TEXT_P(encoded);
}

static TypeidFault
parse(const text *encoded, size_t *prefix_length, uint8 id[16])
{
	return typeid_parse(VARDATA_ANY(encoded),
						VARSIZE_ANY_EXHDR(encoded),
						prefix_length,
						id);
}

Datum
typeid_decode(PG_FUNCTION_ARGS)
{
	const text *encoded = PG_GETARG_TEXT_PP(0);
	const text *prefix = PG_GETARG_TEXT_PP(1);
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));
	size_t length;

	if (parse(encoded, &length, id->data) != TYPEID_OK ||
		length != VARSIZE_ANY_EXHDR(prefix) ||
		memcmp(VARDATA_ANY(encoded), VARDATA_ANY(prefix), length) != 0)
		PG_RETURN_NULL();
	PG_RETURN_UUID_P(id);
}

Datum
typeid_prefix(PG_FUNCTION_ARGS)
{
	const text *encoded = PG_GETARG_TEXT_PP(0);
	uint8 id[16];
	size_t length;
	text *prefix;

	if (parse(encoded, &length, id) != TYPEID_OK)
		PG_RETURN_NULL();
	prefix = text_new(length);
	memcpy(VARDATA(prefix), VARDATA_ANY(encoded), length);
	PG_RETURN_TEXT_P(prefix);
}

/* True, or 22P02 with the rule that is broken. */
Datum
typeid_check(PG_FUNCTION_ARGS)
{
	const text *encoded = PG_GETARG_TEXT_PP(0);
	uint8 id[16];
	size_t length;
	TypeidFault fault = parse(encoded, &length, id);

	if (fault != TYPEID_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("malformed TypeID: \"%s\"", text_quoted(encoded)),
				 errdetail_internal("%s", fault_detail(fault))));
	PG_RETURN_BOOL(true);
}

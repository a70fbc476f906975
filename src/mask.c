/*
 * mask.c
 *		SQL functions that show an id without what it tells: a keyed bijection
 *		on numbers, and one between UUIDv7 and what looks like UUIDv4.
 *
 * Both are FF1 (codec_ff1.c). Equal ids have equal masks, and nothing tells a
 * mask that was made up from one that was issued: whoever unmasks must look
 * for the row.
 *
 * A key that is set up is kept from call to call of a query, and wiped with
 * the query's memory or when another key comes.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "codec_bytes.h"
#include "codec_ff1.h"
#include "compat.h"

SQL_FUNCTION(id_mask);
SQL_FUNCTION(id_unmask);
SQL_FUNCTION(uuid_mask);
SQL_FUNCTION(uuid_unmask);

#define KEY_MAX 32
#define ID_BITS_MAX 64

/* The bits of a uuid that are not its version or its variant. */
#define UUID_BITS 122
#define VERSION_SHIFT 12
#define VERSION_BITS (UINT64CONST(0xF) << VERSION_SHIFT)
#define BELOW_VERSION ((UINT64CONST(1) << VERSION_SHIFT) - 1)
#define VARIANT_SHIFT 62
#define BELOW_VARIANT ((UINT64CONST(1) << VARIANT_SHIFT) - 1)
#define VARIANT_RFC UINT64CONST(2)

/* In fn_extra. */
typedef struct Mask
{
	MemoryContextCallback wipe;
	Ff1 ff1;
	int bits;
	int key_length; /* 0: no key is set up */
	uint8 key[KEY_MAX];
} Mask;

static void
mask_wipe(void *argument)
{
	Mask *mask = argument;

	ff1_free(&mask->ff1);
	explicit_bzero(mask->key, KEY_MAX);
	mask->key_length = 0;
}

static Mask *
mask_new(MemoryContext context)
{
	Mask *mask = MemoryContextAllocZero(context, sizeof(Mask));

	mask->wipe.func = mask_wipe;
	mask->wipe.arg = mask;
	MemoryContextRegisterResetCallback(context, &mask->wipe);
	return mask;
}

static void
cipher_failed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not encrypt with AES")));
}

/*
 * The mask of so many bits for the key in argument 1. Raises 22023 for a key
 * of another length.
 */
static const Ff1 *
mask_argument(FunctionCallInfo fcinfo, int bits)
{
	Mask *mask = fcinfo->flinfo->fn_extra;
	const bytea *key = PG_GETARG_BYTEA_PP(1);
	int length = VARSIZE_ANY_EXHDR(key);

	if (length != 16 && length != 24 && length != 32)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key must have 16, 24 or 32 bytes, not %d", length)));
	if (mask == NULL)
		fcinfo->flinfo->fn_extra = mask = mask_new(fcinfo->flinfo->fn_mcxt);
	if (mask->key_length == length && mask->bits == bits &&
		memcmp(mask->key, VARDATA_ANY(key), length) == 0)
		return &mask->ff1;
	mask_wipe(mask);
	if (!ff1_init(&mask->ff1, (const uint8 *) VARDATA_ANY(key), length, bits))
		cipher_failed();
	memcpy(mask->key, VARDATA_ANY(key), length);
	mask->key_length = length;
	mask->bits = bits;
	return &mask->ff1;
}

/* Raises 22023. */
static int
bits_argument(FunctionCallInfo fcinfo)
{
	int bits = PG_GETARG_INT32(2);

	if (bits < FF1_BITS_MIN || bits > ID_BITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bits must be %d to %d, not %d",
						FF1_BITS_MIN,
						ID_BITS_MAX,
						bits)));
	return bits;
}

/* False for an id that has not so few bits. */
static bool
id_halves(int64 id, int bits, const Ff1 *ff1, Ff1Number *halves)
{
	if (bits < 64 && (uint64) id >> bits != 0)
		return false;
	halves->high = (uint64) id >> ff1->low_bits;
	halves->low = (uint64) id & ((UINT64CONST(1) << ff1->low_bits) - 1);
	return true;
}

static int64
id_whole(const Ff1 *ff1, const Ff1Number *halves)
{
	return (int64) (halves->high << ff1->low_bits | halves->low);
}

/* Raises 22003 for an id that has not so few bits. */
Datum
id_mask(PG_FUNCTION_ARGS)
{
	int64 id = PG_GETARG_INT64(0);
	int bits = bits_argument(fcinfo);
	const Ff1 *ff1 = mask_argument(fcinfo, bits);
	Ff1Number halves;

	if (!id_halves(id, bits, ff1, &halves))
		ereport(
			ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("id must be 0 to 2^%d - 1 for %d bits, not " INT64_FORMAT,
					bits,
					bits,
					id)));
	if (!ff1_encrypt(ff1, &halves))
		cipher_failed();
	PG_RETURN_INT64(id_whole(ff1, &halves));
}

Datum
id_unmask(PG_FUNCTION_ARGS)
{
	int bits = bits_argument(fcinfo);
	const Ff1 *ff1 = mask_argument(fcinfo, bits);
	Ff1Number halves;

	if (!id_halves(PG_GETARG_INT64(0), bits, ff1, &halves))
		PG_RETURN_NULL();
	if (!ff1_decrypt(ff1, &halves))
		cipher_failed();
	PG_RETURN_INT64(id_whole(ff1, &halves));
}

/* False for another version or variant. */
static bool
uuid_halves(const pg_uuid_t *id, uint64 version, Ff1Number *halves)
{
	uint64 high = bytes_load64(id->data);
	uint64 low = bytes_load64(id->data + 8);

	if ((high & VERSION_BITS) >> VERSION_SHIFT != version ||
		low >> VARIANT_SHIFT != VARIANT_RFC)
		return false;
	low &= BELOW_VARIANT;

	/* 60 bits and 62, to be parted into 61 and 61. */
	high =
		high >> (VERSION_SHIFT + 4) << VERSION_SHIFT | (high & BELOW_VERSION);
	halves->high = high << 1 | low >> (UUID_BITS / 2);
	halves->low = low & (BELOW_VARIANT >> 1);
	return true;
}

static pg_uuid_t *
uuid_whole(const Ff1Number *halves, uint64 version)
{
	pg_uuid_t *id = palloc(sizeof(pg_uuid_t));
	uint64 high = halves->high >> 1;
	uint64 low = (halves->high & 1) << (UUID_BITS / 2) | halves->low;

	high = high >> VERSION_SHIFT << (VERSION_SHIFT + 4) |
		   version << VERSION_SHIFT | (high & BELOW_VERSION);
	bytes_store64(id->data, high);
	bytes_store64(id->data + 8, VARIANT_RFC << VARIANT_SHIFT | low);
	return id;
}

/* Raises 22023 for what is no UUIDv7. */
Datum
uuid_mask(PG_FUNCTION_ARGS)
{
	const Ff1 *ff1 = mask_argument(fcinfo, UUID_BITS);
	Ff1Number halves;

	if (!uuid_halves(PG_GETARG_UUID_P(0), 7, &halves))
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("id is not a UUIDv7: \"%s\"",
					DatumGetCString(
						DirectFunctionCall1(uuid_out, PG_GETARG_DATUM(0))))));
	if (!ff1_encrypt(ff1, &halves))
		cipher_failed();
	PG_RETURN_UUID_P(uuid_whole(&halves, 4));
}

Datum
uuid_unmask(PG_FUNCTION_ARGS)
{
	const Ff1 *ff1 = mask_argument(fcinfo, UUID_BITS);
	Ff1Number halves;

	if (!uuid_halves(PG_GETARG_UUID_P(0), 4, &halves))
		PG_RETURN_NULL();
	if (!ff1_decrypt(ff1, &halves))
		cipher_failed();
	PG_RETURN_UUID_P(uuid_whole(&halves, 7));
}

/*
 * sqids.c
 *		SQL functions for Sqids: lists of numbers as short text.
 *
 * To shuffle the alphabet and to sort the words of the blocklist takes longer
 * than to encode, so both are kept from call to call, with the arguments that
 * they were made of; a call that brings others makes them anew.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "codec_sqids.h"
#include "compat.h"
#include "texts.h"

SQL_FUNCTION(sqids_encode);
SQL_FUNCTION(sqids_decode);

/* In fn_extra. All else that it points to is in its context. */
typedef struct Prepared
{
	MemoryContext context;
	text *alphabet;
	ArrayType *blocklist; /* NULL: the specification's */
	Sqids sqids;
} Prepared;

static void
check_alphabet(const text *alphabet)
{
	const char *bytes = VARDATA_ANY(alphabet);
	int length = VARSIZE_ANY_EXHDR(alphabet);
	bool seen[128] = {false};

	if (length < SQIDS_ALPHABET_MIN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("alphabet must have %d or more characters: \"%s\"",
						SQIDS_ALPHABET_MIN,
						text_quoted(alphabet))));
	for (int i = 0; i < length; i++)
	{
		if (IS_HIGHBIT_SET(bytes[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("alphabet must be ASCII: \"%s\"",
							text_quoted(alphabet))));
		if (seen[(int) bytes[i]])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("alphabet has character \"%c\" twice", bytes[i])));
		seen[(int) bytes[i]] = true;
	}
}

/* Raises 2202E and 22004 for what is not a plain list. */
static void
check_list(ArrayType *list, const char *name)
{
	if (ARR_NDIM(list) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array \"%s\" must have one dimension, not %d",
						name,
						ARR_NDIM(list))));
	if (array_contains_nulls(list))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array \"%s\" must not contain NULL", name)));
}

static void
add_word(const Sqids *sqids,
		 const char *word,
		 size_t length,
		 SqidsWord *words,
		 int *count)
{
	if (sqids_word(sqids, word, length, palloc(length + 1), &words[*count]))
		(*count)++;
}

/* Sets the words of the blocklist, in the current context. */
static void
take_blocklist(Sqids *sqids, ArrayType *blocklist)
{
	Datum *elements = NULL;
	int size = SQIDS_BLOCKLIST_SIZE;
	int count = 0;
	SqidsWord *words;

	if (blocklist != NULL)
		deconstruct_array(blocklist,
						  TEXTOID,
						  -1,
						  false,
						  TYPALIGN_INT,
						  &elements,
						  NULL,
						  &size);
	words = palloc(sizeof(SqidsWord) * (size + 1));
	for (int i = 0; i < size; i++)
	{
		const text *word;

		if (blocklist == NULL)
		{
			add_word(sqids,
					 sqids_blocklist[i],
					 strlen(sqids_blocklist[i]),
					 words,
					 &count);
			continue;
		}
		word = DatumGetTextPP(elements[i]);
		add_word(sqids,
				 VARDATA_ANY(word),
				 VARSIZE_ANY_EXHDR(word),
				 words,
				 &count);
	}
	sqids_set_words(sqids,
					words,
					count,
					palloc(sizeof(SqidsWord) * (count + 1)));
}

static Prepared *
prepare(MemoryContext parent, text *alphabet, ArrayType *blocklist)
{
	MemoryContext context;
	MemoryContext before;
	Prepared *prepared;

	check_alphabet(alphabet);
	if (blocklist != NULL)
		check_list(blocklist, "blocklist");
	context =
		AllocSetContextCreate(parent, "idgen sqids", ALLOCSET_SMALL_SIZES);
	before = MemoryContextSwitchTo(context);
	prepared = palloc0(sizeof(Prepared));
	prepared->context = context;
	prepared->alphabet = text_copy(context, alphabet);
	sqids_set_alphabet(&prepared->sqids,
					   VARDATA_ANY(alphabet),
					   VARSIZE_ANY_EXHDR(alphabet));
	if (blocklist != NULL)
		prepared->blocklist = text_copy(context, blocklist);
	take_blocklist(&prepared->sqids, prepared->blocklist);
	MemoryContextSwitchTo(before);
	return prepared;
}

/* For alphabet and blocklist in arguments 1 and 3, of which that may be NULL. */
static const Sqids *
sqids_arguments(FunctionCallInfo fcinfo)
{
	text *alphabet = PG_GETARG_TEXT_PP(1);
	ArrayType *blocklist = PG_ARGISNULL(3) ? NULL : PG_GETARG_ARRAYTYPE_P(3);
	Prepared *prepared = fcinfo->flinfo->fn_extra;

	if (prepared != NULL && text_same(prepared->alphabet, alphabet) &&
		text_same(prepared->blocklist, blocklist))
		return &prepared->sqids;
	fcinfo->flinfo->fn_extra = NULL;
	if (prepared != NULL)
		MemoryContextDelete(prepared->context);
	prepared = prepare(fcinfo->flinfo->fn_mcxt, alphabet, blocklist);
	fcinfo->flinfo->fn_extra = prepared;
	return &prepared->sqids;
}

/* Raises 22023. */
static int
min_length_argument(FunctionCallInfo fcinfo)
{
	int min_length = PG_GETARG_INT32(2);

	if (min_length < 0 || min_length > SQIDS_MIN_LENGTH_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("min_length must be 0 to %d, not %d",
						SQIDS_MIN_LENGTH_MAX,
						min_length)));
	return min_length;
}

/* NULL when all attempts are blocked. */
static text *
encode(const Sqids *sqids, const int64 *numbers, int count, int min_length)
{
	text *encoded = text_new(SQIDS_TEXT_MAX(count));
	char *lower = palloc(SQIDS_TEXT_MAX(count));
	size_t length;
	bool done = sqids_to_text(sqids,
							  numbers,
							  count,
							  min_length,
							  VARDATA(encoded),
							  lower,
							  &length);

	pfree(lower);
	SET_VARSIZE(encoded, length + VARHDRSZ);
	return done ? encoded : NULL;
}

/* Raises 2202E, 22004, 22023 and 22003 for what is no list of such numbers. */
static int64 *
numbers_in(ArrayType *list, int *count)
{
	Datum *elements;
	int64 *numbers;

	check_list(list, "numbers");
	deconstruct_array(list,
					  INT8OID,
					  sizeof(int64),
					  FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE,
					  &elements,
					  NULL,
					  count);
	if (*count > SQIDS_NUMBERS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("numbers must be at most %d, not %d",
						SQIDS_NUMBERS_MAX,
						*count)));
	numbers = palloc(sizeof(int64) * (*count + 1));
	for (int i = 0; i < *count; i++)
	{
		numbers[i] = DatumGetInt64(elements[i]);
		if (numbers[i] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("number must not be negative: " INT64_FORMAT,
							numbers[i])));
	}
	return numbers;
}

Datum
sqids_encode(PG_FUNCTION_ARGS)
{
	const int64 *numbers;
	const Sqids *sqids;
	text *encoded;
	int count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	numbers = numbers_in(PG_GETARG_ARRAYTYPE_P(0), &count);
	sqids = sqids_arguments(fcinfo);
	encoded = encode(sqids, numbers, count, min_length_argument(fcinfo));
	if (encoded == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("every Sqid of the numbers has a blocked word"),
				 errhint("Use a smaller blocklist or a larger alphabet.")));
	PG_RETURN_TEXT_P(encoded);
}

static ArrayType *
list_new(const int64 *numbers, int count)
{
	Datum *elements = palloc(sizeof(Datum) * (count + 1));

	for (int i = 0; i < count; i++)
		elements[i] = Int64GetDatum(numbers[i]);
	return construct_array(elements,
						   count,
						   INT8OID,
						   sizeof(int64),
						   FLOAT8PASSBYVAL,
						   TYPALIGN_DOUBLE);
}

Datum
sqids_decode(PG_FUNCTION_ARGS)
{
	const Sqids *sqids;
	text *encoded;
	int64 *numbers;
	int length;
	int min_length;
	int count;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) ||
		PG_ARGISNULL(4))
		PG_RETURN_NULL();
	sqids = sqids_arguments(fcinfo);
	min_length = min_length_argument(fcinfo);
	encoded = PG_GETARG_TEXT_PP(0);
	length = VARSIZE_ANY_EXHDR(encoded);
	numbers = palloc(sizeof(int64) * (Min(length / 2, SQIDS_NUMBERS_MAX) + 1));
	count = sqids_from_text(sqids, VARDATA_ANY(encoded), length, numbers);
	if (count < 0)
		PG_RETURN_NULL();
	if (PG_GETARG_BOOL(4))
	{
		text *canonical = encode(sqids, numbers, count, min_length);

		if (canonical == NULL ||
			(int) VARSIZE_ANY_EXHDR(canonical) != length ||
			memcmp(VARDATA(canonical), VARDATA_ANY(encoded), length) != 0)
			PG_RETURN_NULL();
	}
	PG_RETURN_ARRAYTYPE_P(list_new(numbers, count));
}

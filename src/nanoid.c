/*
 * nanoid.c
 *		Random text of a chosen alphabet and length (NanoID).
 *
 * Every character of the alphabet is as likely as any other, whatever their
 * number. A draw of 64 bits is refused with less than 1/256 probability, so
 * the work is bounded: a generator that has 32 refused in a row is broken.
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "codec_digits.h"
#include "compat.h"
#include "random.h"
#include "texts.h"

SQL_FUNCTION(nanoid);

#define NANOID_SIZE_MAX 65536
#define REFUSALS_MAX 32

/* In fn_extra: to read an alphabet takes longer than to draw from it. */
typedef struct Alphabet
{
	text *from; /* the argument, which `start` points into */
	DigitDraw draw;
	int count;
	const char *start[DIGITS_BASE_MAX]; /* of each character */
	uint8 length[DIGITS_BASE_MAX];      /* its bytes */
} Alphabet;

static bool
has_twice(const Alphabet *alphabet, int which)
{
	for (int i = 0; i < which; i++)
		if (alphabet->length[i] == alphabet->length[which] &&
			memcmp(alphabet->start[i],
				   alphabet->start[which],
				   alphabet->length[which]) == 0)
			return true;
	return false;
}

/* Raises 22023 unless there are 2 to 256 characters, all different. */
static void
alphabet_read(Alphabet *alphabet)
{
	const char *at = VARDATA_ANY(alphabet->from);
	const char *end = at + VARSIZE_ANY_EXHDR(alphabet->from);
	int count = 0;

	while (at < end && count < DIGITS_BASE_MAX)
	{
		int length = Min(pg_mblen(at), (int) (end - at));

		alphabet->start[count] = at;
		alphabet->length[count] = (uint8) length;
		if (has_twice(alphabet, count))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("alphabet has character \"%s\" twice",
							pnstrdup(at, length))));
		at += length;
		count++;
	}
	if (count < 2 || at < end)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("alphabet must have 2 to %d characters: \"%s\"",
						DIGITS_BASE_MAX,
						text_quoted(alphabet->from))));
	alphabet->count = count;
	alphabet->draw = digits_prepare(count);
}

/* The alphabet in argument 1, as long as the query runs. */
static const Alphabet *
alphabet_argument(FunctionCallInfo fcinfo)
{
	FmgrInfo *function = fcinfo->flinfo;
	Alphabet *alphabet = function->fn_extra;
	text *from = PG_GETARG_TEXT_PP(1);

	if (alphabet != NULL && text_same(alphabet->from, from))
		return alphabet;
	function->fn_extra = NULL;
	if (alphabet != NULL)
	{
		pfree(alphabet->from);
		pfree(alphabet);
	}
	alphabet = MemoryContextAlloc(function->fn_mcxt, sizeof(Alphabet));
	alphabet->from = text_copy(function->fn_mcxt, from);
	alphabet_read(alphabet);
	function->fn_extra = alphabet;
	return alphabet;
}

static void
draw(const DigitDraw *how, uint8 digits[DIGITS_MAX])
{
	for (int i = 0; i < REFUSALS_MAX; i++)
		if (digits_draw(how, random_bits(), digits))
			return;
	elog(ERROR, "%d draws of random bits were refused", REFUSALS_MAX);
}

static text *
nanoid_new(int size, const Alphabet *alphabet)
{
	uint8 digits[DIGITS_MAX];
	text *id = text_new((size_t) size * MAX_MULTIBYTE_CHAR_LEN);
	char *at = VARDATA(id);

	for (int i = 0; i < size; i++)
	{
		int which = i % alphabet->draw.count;

		if (which == 0)
			draw(&alphabet->draw, digits);
		which = digits[which];
		memcpy(at, alphabet->start[which], alphabet->length[which]);
		at += alphabet->length[which];
	}
	SET_VARSIZE(id, at - (char *) id);
	return id;
}

Datum
nanoid(PG_FUNCTION_ARGS)
{
	int size = PG_GETARG_INT32(0);

	if (size < 1 || size > NANOID_SIZE_MAX)
		ereport(
			ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("size must be 1 to %d, not %d", NANOID_SIZE_MAX, size)));
	PG_RETURN_TEXT_P(nanoid_new(size, alphabet_argument(fcinfo)));
}

/*
 * extension.c
 *		The extension as it is installed in this database.
 */
#include "postgres.h"

#include <stdlib.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "extension.h"

/* False when the database does not have it. */
bool
extension_find(Extension *extension)
{
	Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	ScanKeyInit(&key,
				Anum_pg_extension_extname,
				BTEqualStrategyNumber,
				F_NAMEEQ,
				CStringGetDatum("idgen"));
	scan = systable_beginscan(extensions,
							  ExtensionNameIndexId,
							  true,
							  NULL,
							  1,
							  &key);
	tuple = systable_getnext(scan);
	memset(extension, 0, sizeof(*extension));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_extension row = (Form_pg_extension) GETSTRUCT(tuple);
		bool is_null;
		Datum version = heap_getattr(tuple,
									 Anum_pg_extension_extversion,
									 RelationGetDescr(extensions),
									 &is_null);

		extension->oid = row->oid;
		extension->schema = row->extnamespace;
		extension->version = TextDatumGetCString(version);
	}
	systable_endscan(scan);
	table_close(extensions, AccessShareLock);
	return OidIsValid(extension->oid);
}

/* Whether a relation is one of the extension's, and not just of that name. */
bool
extension_owns_relation(Oid relation)
{
	Oid extension = get_extension_oid("idgen", true);

	return OidIsValid(extension) &&
		   getExtensionOfObject(RelationRelationId, relation) == extension;
}

void
extension_table_is_gone(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("table %s of extension \"idgen\" is gone", name),
			 errhint("It was dropped, renamed, or changed.")));
}

/* Compares versions of the form MAJOR.MINOR, number by number. */
bool
extension_version_is_newer(const char *version, const char *than)
{
	for (;;)
	{
		char *version_rest;
		char *than_rest;
		long a = strtol(version, &version_rest, 10);
		long b = strtol(than, &than_rest, 10);

		if (a != b)
			return a > b;
		if (*version_rest != '.' || *than_rest != '.')
			return *version_rest == '.';
		version = version_rest + 1;
		than = than_rest + 1;
	}
}

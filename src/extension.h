/*
 * extension.h
 *		The extension as it is installed in this database.
 */
#ifndef IDGEN_EXTENSION_H
#define IDGEN_EXTENSION_H

typedef struct Extension
{
	Oid oid;
	Oid schema;
	char *version;
} Extension;

/* extension.c */
extern bool extension_find(Extension *extension);
extern bool extension_owns_relation(Oid relation);
extern void extension_table_is_gone(const char *name) pg_attribute_noreturn();
extern bool extension_version_is_newer(const char *version, const char *than);

#endif

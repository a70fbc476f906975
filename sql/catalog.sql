-- Every object of the extension, with what the planner is told of it: a label
-- that is too bold gives wrong answers, one too timid gives slow plans.
SELECT p.oid::regprocedure AS function,
       CASE provolatile WHEN 'i' THEN 'immutable' WHEN 's' THEN 'stable'
                        ELSE 'volatile' END AS volatility,
       CASE WHEN proisstrict THEN 'strict' ELSE 'called on null' END AS nulls,
       CASE proparallel WHEN 's' THEN 'safe' WHEN 'r' THEN 'restricted'
                        ELSE 'unsafe' END AS parallel,
       has_function_privilege('public', p.oid, 'execute') AS public
FROM pg_depend d
JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen')
ORDER BY p.proname COLLATE "C", p.pronargs;

-- ... and what else it holds, but for row types, which are not members of old.
SELECT pg_describe_object(classid, objid, 0) COLLATE "C" AS object
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass)
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen')
ORDER BY 1;

-- Everything has a comment.
SELECT pg_describe_object(classid, objid, 0) AS without_comment
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen')
  AND classid <> 'pg_type'::regclass
  AND obj_description(objid, classid::regclass::name) IS NULL;
SELECT attrelid::regclass, attname AS column_without_comment
FROM pg_attribute JOIN pg_depend ON objid = attrelid
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND classid = 'pg_class'::regclass AND attnum > 0
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idgen')
  AND col_description(attrelid, attnum) IS NULL;

-- keys.sql: what key.sql counts with and writes into.

create extension pgstattuple;

create table key_cost (
    n int generated always as identity,
    name text not null,
    wal_bytes numeric,
    images bigint,
    dirtied bigint,
    leaf_density float8,
    index_before bigint,
    index_after bigint
);

create table batch_cost (wal_bytes numeric, images bigint, dirtied bigint);

-- Executes a statement, and tells what this session did for it; the server's own
-- statistics would count the checkpointer in.
create function cost(statement text) returns batch_cost
language plpgsql as $$
declare
    plan jsonb;
begin
    execute 'explain (analyze, buffers, wal, timing off, format json) ' || statement into plan;
    plan := plan -> 0 -> 'Plan';
    return (plan -> 'WAL Bytes', plan -> 'WAL FPI', plan -> 'Shared Dirtied Blocks')::batch_cost;
end
$$;

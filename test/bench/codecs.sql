-- codecs.sql: what is encoded and decoded, and an encoder written in SQL.

create function sql_typeid(prefix text, id uuid) returns text
language sql immutable strict parallel safe as $$
    select prefix || '_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
        substring(bits from 3 + 5 * n for 5)::int + 1, 1), '' order by n)
    from (select ('x0' || replace(id::text, '-', ''))::bit(132) as bits) as s, generate_series(0, 25) as n
$$;

create table input as
select n, id, typeid_encode('prj', id) as typeid, b32_encode(id) as b32, ulid_encode(id) as ulid,
    k as ksuid, ksuid_encode(k) as ksuid_text, array[n] as numbers, sqids_encode(array[n]) as sqid,
    id_mask(n, '\x000102030405060708090a0b0c0d0e0f') as masked,
    uuid_mask(id, '\x000102030405060708090a0b0c0d0e0f') as uuid_masked
from (select n, uuidv7_mono() as id, ksuid_next() as k from generate_series(1, 1000::bigint) as n offset 0) as s;
vacuum analyze input;

-- The encoder in SQL must be one: another text would be another task.
do $$
begin
    if exists (select from input where sql_typeid('prj', id) <> typeid) then
        raise 'the encoder written in SQL encodes something else';
    end if;
end $$;

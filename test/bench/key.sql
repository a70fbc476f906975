-- key.sql: one row of key_cost, for a primary key defined by :id.

create table t (id :id primary key, payload bigint);
insert into t (payload) select g from generate_series(1, :rows) g;
insert into key_cost (name, index_before) values (:'name', pg_indexes_size('t'));

truncate batch_cost;
select statement
from generate_series(1, 10) as batch,
    unnest(array['checkpoint', format('insert into batch_cost select * from cost(%L)',
        format('insert into t (payload) select g from generate_series(1, %s) g', :rows / 10))])
        with ordinality as s(statement, step)
order by batch, step
\gexec

update key_cost
set (wal_bytes, images, dirtied) =
        (select sum(wal_bytes), sum(images), sum(dirtied) from batch_cost),
    leaf_density = (select avg_leaf_density from pgstatindex('t_pkey')),
    index_after = pg_indexes_size('t')
where name = :'name';
drop table t;

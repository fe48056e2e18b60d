-- A month's partition is created while nobody has the partitioned table open.
--
-- Before, only the default partition was locked. A statement reads the list of partitions when it is planned and then waits
-- for the default partition; its snapshot is newer than the rows' move, and its list of partitions older. It saw the moved
-- rows in neither place: the sealer reported entries as deleted (`audit.missing`), and an insert of the new month was
-- refused by the default partition. The lock on the parent is taken before a statement reads the list.
create or replace function create_month_partitions(month date) returns void language plpgsql as $$
declare
  first timestamptz := date_trunc('month', month::timestamp) at time zone 'UTC';
  past timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') at time zone 'UTC';
  partitioned text[];
  parent text;
  key text;
  part text;
begin
  perform pg_advisory_xact_lock(hashtext('create_month_partitions'));
  foreach partitioned slice 1 in array array[['deliveries', 'received'], ['audit_entries', 'at']] loop
    parent := partitioned[1];
    key := partitioned[2];
    part := format('%s_%s', parent, to_char(month, 'YYYY_MM'));
    continue when to_regclass(part) is not null;
    execute format('lock table only %I in access exclusive mode', parent);
    execute format('lock table %I in access exclusive mode', parent || '_default');
    execute format('create table %I (like %I including defaults including constraints including indexes)', part, parent);
    execute format('alter table %I disable trigger user', parent || '_default');
    execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
      parent || '_default', key, first, key, past, part);
    execute format('alter table %I enable trigger user', parent || '_default');
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, part, first, past);
    if parent = 'audit_entries' then
      execute format('create trigger audit_entries_not_emptied before truncate on %I for each statement execute function refuse_change()', part);
    end if;
  end loop;
end $$;

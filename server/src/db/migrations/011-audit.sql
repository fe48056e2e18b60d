-- The audit as a chain: who presented which credential, and the seal of every entry.

alter table audit_entries add column credential text;
alter table audit_entries add column by_staff boolean not null default false;
comment on column audit_entries.credential is 'session:<id> or token:<id>; null for the operator and for loops';
comment on column audit_entries.by_staff is 'done by a person of the provider, as whom teams are not shown who';

-- Listed by team, newest first, alone or with one filter; an action also by its beginning, which takes the order of bytes.
-- Each holds what a list is counted and ordered by, so that only the entries of the page itself are fetched.
alter table audit_entries alter column action type text collate "C";
drop index audit_entries_team;
create index audit_entries_team on audit_entries (team_id, at, id);
create index audit_entries_action on audit_entries (team_id, action, at, id);
create index audit_entries_actor on audit_entries (team_id, actor, at, id) include (by_staff, action);
create index audit_entries_address on audit_entries (team_id, address, at, id) include (by_staff, actor);
create index audit_entries_staff on audit_entries (team_id, at, id) where by_staff;
create index audit_entries_target on audit_entries (team_id, target, at, id);
create index audit_entries_request on audit_entries (request_id);

-- Links of the chain, in their order. What is sealed how: server/src/audit/canonical.ts.
create table audit_seals (
  sequence bigint primary key,
  entry_id bigint not null unique,
  entry_at timestamptz not null,
  team_id integer,
  key_id text not null,
  hash bytea not null
);
comment on column audit_seals.team_id is 'that of the entry, for row-level security';
comment on column audit_seals.key_id is 'which key of the ring made the hash';

-- Entries that wait for their seal. By the order of their ids they could not be found: a transaction that began earlier
-- may end later, and its entries appear below those that are sealed already. Nobody is notified: commits that notify wait
-- for each other (1,200 a second in the place of 3,400, of 8 connections), so whoever seals looks here every second.
create table audit_unsealed (
  entry_id bigint primary key,
  entry_at timestamptz not null
);
insert into audit_unsealed (entry_id, entry_at) select id, at from audit_entries;

create function await_audit_seal() returns trigger language plpgsql security definer set search_path = public as $$
begin
  insert into audit_unsealed (entry_id, entry_at) values (new.id, new.at);
  return null;
end $$;
create trigger audit_entries_queue after insert on audit_entries for each row execute function await_audit_seal();

-- Written once, whoever asks: grants do not bind the owner, as whom loops and commands work. Only whoever may alter the
-- table gets past this, and the chain finds what they did.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise insufficient_privilege using message = format('%s of %s is refused: its rows are written once', tg_op, tg_table_name);
end $$;
create trigger audit_entries_kept before update or delete on audit_entries
  for each row execute function refuse_change();
create trigger audit_entries_not_emptied before truncate on audit_entries
  for each statement execute function refuse_change();
create trigger audit_seals_kept before update or delete on audit_seals
  for each row execute function refuse_change();
create trigger audit_seals_not_emptied before truncate on audit_seals
  for each statement execute function refuse_change();

-- A trigger on TRUNCATE is not passed on to partitions.
do $$
declare
  part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = 'audit_entries'::regclass loop
    execute format('create trigger audit_entries_not_emptied before truncate on %s for each statement execute function refuse_change()', part);
  end loop;
end $$;

-- As before, and rows that are written once move all the same: while the triggers of the default partition are off nobody
-- else can reach it.
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
    -- Nobody may write to the default partition between the move and the attachment.
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

-- Drops the months of the audit that ended at `past` or before, oldest first, with their seals, and stops at a month in
-- which an entry still waits for its seal. The seal of the last entry that there is stays, so that the chain goes on.
create function drop_audit_months(past timestamptz)
  returns table (name text, ends timestamptz, entries bigint) language plpgsql as $$
declare
  late date;
  anchor bigint;
begin
  -- Rows whose month never had a partition of its own.
  foreach late in array array(select distinct date_trunc('month', at at time zone 'UTC')::date
    from audit_entries_default where at < date_trunc('month', past at time zone 'UTC') at time zone 'UTC') loop
    perform create_month_partitions(late);
  end loop;
  foreach name in array array(select relname::text from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'audit_entries'::regclass and relname ~ '^audit_entries_\d{4}_\d\d$' order by 1) loop
    ends := (to_date(right(name, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC';
    exit when ends > past or exists (select from audit_unsealed where entry_at < ends);
    execute format('select count(*) from %I', name) into entries;
    execute format('drop table %I', name);
    select coalesce(
      (select sequence from audit_seals where entry_at >= ends order by sequence limit 1),
      (select max(sequence) from audit_seals)) into anchor;
    alter table audit_seals disable trigger user;
    delete from audit_seals where sequence < anchor;
    alter table audit_seals enable trigger user;
    return next;
  end loop;
end $$;

-- The names that a team is shown for those who did something in it: the e-mail address of a user, the name of a token of
-- the team. People of the provider have none, and neither has anybody who did nothing there.
create function audit_actor_names(actors text[]) returns table (actor text, name text)
  language sql stable security definer set search_path = public as $$
  select a, case
    when a ~ '^user:\d{1,9}$' then (
      select u.email from users u where u.id = substr(a, 6)::integer and not u.is_staff)
    when a ~ '^token:' then (
      select t.name from api_tokens t where t.id = substr(a, 7) and t.team_id = current_team_id())
    end
  from unnest(actors) a
  where exists (select from audit_entries e where e.team_id = current_team_id() and e.actor = a and not e.by_staff)
$$;

create function staff_actors() returns text[] language sql stable security definer set search_path = public as $$
  select coalesce(array_agg('user:' || id), '{}') from users where is_staff
$$;

alter table audit_seals enable row level security;
alter table audit_unsealed enable row level security;
create policy tenant on audit_seals to pharos_tenant using (team_id = current_team_id());
grant select on audit_entries to pharos_tenant;
grant select (sequence, entry_id, team_id) on audit_seals to pharos_tenant;

-- The audit log, and the chain of hashes that seals it.

set local check_function_bodies = off;

create table audit_entries (
  id bigint generated always as identity,
  at timestamptz not null default now(),
  team_id integer,
  actor text not null,
  action text collate "C" not null,
  target text not null,
  before jsonb,
  after jsonb,
  request_id text,
  address inet,
  credential text,
  by_staff boolean not null default false,
  primary key (id, at)
) partition by range(at);
comment on column audit_entries.credential is 'session:<id> or token:<id>; null for the operator and for loops';
comment on column audit_entries.by_staff is 'done by a person of the provider, as whom teams are not shown who';
create index audit_entries_team on audit_entries (team_id, at, id);
create index audit_entries_action on audit_entries (team_id, action, at, id);
create index audit_entries_actor on audit_entries (team_id, actor, at, id) include (by_staff, action);
create index audit_entries_address on audit_entries (team_id, address, at, id) include (by_staff, actor);
create index audit_entries_staff on audit_entries (team_id, at, id) where by_staff;
create index audit_entries_target on audit_entries (team_id, target, at, id);
create index audit_entries_request on audit_entries (request_id);
alter table audit_entries enable row level security;
create policy tenant on audit_entries to pharos_tenant using (team_id = current_team_id());
grant select, insert on audit_entries to pharos_tenant;

create function await_audit_seal() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into audit_unsealed (entry_id, entry_at) values (new.id, new.at);
  return null;
end $$;
create trigger audit_entries_queue after insert on audit_entries for each row execute function await_audit_seal();

-- Rows are written once, also for the owner of the tables: grants do not apply to it. Only a role that may alter the table gets past this, and
-- the chain of hashes shows it.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise insufficient_privilege using message = format('%s of %s is refused: its rows are written once', tg_op, tg_table_name);
end $$;
create trigger audit_entries_kept before delete or update on audit_entries for each row execute function refuse_change();
create trigger audit_entries_not_emptied before truncate on audit_entries for each statement execute function refuse_change();

-- Names of actors that a team may read: the e-mail address of a user, the name of a token of the team. People of the provider have none,
-- nor have actors without an entry of the team.
create function audit_actor_names(actors text[]) returns table(actor text, name text) language sql stable security definer set search_path = public,
  pg_temp as $$
  select a, case
    when a ~ '^user:\d{1,9}$' then (
      select u.email from users u where u.id = substr(a, 6)::integer and not u.is_staff)
    when a ~ '^token:' then (
      select t.name from api_tokens t where t.id = substr(a, 7) and t.team_id = current_team_id())
    end
  from unnest(actors) a
  where exists (select from audit_entries e where e.team_id = current_team_id() and e.actor = a and not e.by_staff)
$$;
revoke execute on function audit_actor_names from public;
grant execute on function audit_actor_names to pharos_tenant;

create table audit_entries_default partition of audit_entries default;

create trigger audit_entries_not_emptied before truncate on audit_entries_default for each statement execute function refuse_change();

-- Links of the chain of hashes, in their order. server/src/audit/canonical.ts defines what is hashed.
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
alter table audit_seals enable row level security;
create policy tenant on audit_seals to pharos_tenant using (team_id = current_team_id());
grant select (sequence, entry_id, team_id) on audit_seals to pharos_tenant;

create trigger audit_seals_kept before delete or update on audit_seals for each row execute function refuse_change();
create trigger audit_seals_not_emptied before truncate on audit_seals for each statement execute function refuse_change();

-- Entries that wait for their seal. Their ids do not give the order: a transaction that began earlier may end later, and its entries then
-- appear below sealed ones. No notification: commits that notify wait for each other (1,200 instead of 3,400 a second with 8 connections),
-- so the sealer reads this table every second.
create table audit_unsealed (
  entry_id bigint primary key,
  entry_at timestamptz not null
);
alter table audit_unsealed enable row level security;

-- Drops the months of the audit log that ended at `past` or before, oldest first, with their seals, and stops at a month with an entry that
-- waits for its seal. The last seal stays, so that the chain continues.
create function drop_audit_months(past timestamptz) returns table(name text, ends timestamptz, entries bigint) language plpgsql as $$
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

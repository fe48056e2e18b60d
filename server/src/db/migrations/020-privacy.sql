-- phase: expand
-- runs with: 0.2.0
-- Privacy: personal texts of the audit log beside its sealed entries, limits by default, and accounts without a team.

create table audit_addresses (
  key text primary key check (key ~ '^[A-Za-z0-9_-]{16}$'),
  at timestamptz not null default now(),
  team_id integer,
  user_id integer,
  value text,
  erased timestamptz,
  check ((value is null) = (erased is not null))
);
comment on table audit_addresses is 'addresses and names of people in entries of the audit log, which contain the key: emptied with the account, while the entry and its seal stay';
comment on column audit_addresses.at is 'time of its entry, with whose month it is deleted';
comment on column audit_addresses.team_id is 'that of the entry, for row-level security';
comment on column audit_addresses.user_id is 'the account that the entry is about; null if the entry does not name it';
comment on column audit_addresses.value is 'null once the account is deleted';
create index audit_addresses_at on audit_addresses (at);
create index audit_addresses_user on audit_addresses (user_id) where user_id is not null and erased is null;
create index audit_addresses_value on audit_addresses (lower(value)) where erased is null;
alter table audit_addresses enable row level security;
create policy tenant on audit_addresses to pharos_tenant using (team_id = current_team_id());
grant select, insert (key, team_id, user_id, value) on audit_addresses to pharos_tenant;

create table default_limits (
  key text primary key default 'default_limits' check (key = 'default_limits'),
  since timestamptz not null default now()
);
comment on table default_limits is 'one row if the installation began with limits of retention by default; without it rows are kept until a limit is set';
alter table default_limits enable row level security;
insert into default_limits select where not exists (select from users) and not exists (select from teams);

create index events_detected on events (detected);

create table unused_accounts (
  user_id integer primary key references users on delete cascade,
  since timestamptz not null default now(),
  mailed timestamptz
);
comment on table unused_accounts is 'accounts without a team, which are deleted after a time';
comment on column unused_accounts.since is 'when it was first seen without a team, or used after that';
comment on column unused_accounts.mailed is 'when the user was told that the account will be deleted';
alter table unused_accounts enable row level security;

-- How a member may sign in, as far as the team may know: no identity provider of another team. The hash of the password is not shown to the team role.
create function member_sign_in(of_user integer, in_team integer) returns text[] language sql stable security definer set search_path = public, pg_temp as $$
  select array_remove(array[
      case when u.password_hash is not null then 'password' end,
      case when u.passkey_added is not null then 'passkey' end,
      case when exists (select from user_identities i join identity_providers p on p.id = i.provider_id
        where i.user_id = u.id and p.team_id = in_team) then 'provider' end], null)
  from users u join memberships m on m.user_id = u.id
  where u.id = of_user and m.team_id = in_team and coalesce(current_team_id(), in_team) = in_team
$$;
revoke execute on function member_sign_in from public;
grant execute on function member_sign_in to pharos_tenant;

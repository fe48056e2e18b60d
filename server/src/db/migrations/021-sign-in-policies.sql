-- phase: expand
-- runs with: 0.2.0
-- Teams state which proofs of a session open them, and have recovery codes for the time when their identity provider does not answer.

alter table teams add column sign_in_policy text not null default 'optional',
  add constraint teams_sign_in_policy check (sign_in_policy in ('optional', 'required_domain', 'required')) not valid;
comment on column teams.sign_in_policy is 'required_domain: members with an address in a domain of a provider use it, others a second factor; required: the provider of the team only';
grant update (sign_in_policy) on teams to pharos_tenant;
create or replace trigger teams_actors after delete or update of enabled_modules, require_2fa, sign_in_policy on teams for each statement
  execute function wake_actors();

create table team_recovery_codes (
  id bigint generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  code_mac bytea not null,
  created timestamptz not null default now(),
  used timestamptz
);
comment on table team_recovery_codes is 'for admins while the identity provider of the team does not answer; new codes replace the old ones';
comment on column team_recovery_codes.code_mac is 'HMAC-SHA256 with a key derived from the secret, bound to the team';
create index team_recovery_codes_team on team_recovery_codes (team_id);
alter table team_recovery_codes enable row level security;
create policy tenant on team_recovery_codes to pharos_tenant using (team_id = current_team_id());
grant select (id, team_id, created, used), insert (team_id, code_mac), delete on team_recovery_codes to pharos_tenant;

alter table session_proofs
  add column team_id integer references teams on delete set null,
  drop constraint session_proofs_kind_check,
  add constraint session_proofs_kind_check check (kind in ('local', 'provider', 'recovery')) not valid;
comment on column session_proofs.kind is 'local: a password or a passkey of the account; provider: an identity provider of a team; recovery: a recovery code of a team; staff: that of staff';
comment on column session_proofs.team_id is 'of a recovery code: it opens this team, for its admins';
create index session_proofs_team on session_proofs (team_id) where team_id is not null;
-- A session that was blocked is open on every process.
create trigger session_proofs_recovered after insert on session_proofs for each row when (new.kind = 'recovery') execute function wake_actors();

alter table identity_providers add column problem_mailed timestamptz;
comment on column identity_providers.problem_mailed is 'when its admins were last told that it does not answer: once for each outage';

-- The identity provider of the operator's staff, from the platform file.
create table staff_sign_in (
  key text primary key check (key = 'staff_sign_in'),
  issuer text not null,
  client_id text not null,
  secret_sealed bytea not null,
  domains text[] not null,
  groups jsonb not null,
  groups_claim text not null,
  acr text,
  second_factor text not null check (second_factor in ('claim', 'trust')),
  required boolean not null,
  break_glass text[] not null
);
comment on table staff_sign_in is 'one row at most: the element of the platform file';
comment on column staff_sign_in.secret_sealed is 'client secret, AES-256-GCM under a key derived from the secret';
comment on column staff_sign_in.groups is 'staff roles by group; empty: the roles of the account';
comment on column staff_sign_in.required is 'rights of staff need a sign-in with it';
comment on column staff_sign_in.break_glass is 'addresses of accounts for the time when it does not answer: they need a second factor';
alter table staff_sign_in enable row level security;
create trigger staff_sign_in_actors after insert or update or delete on staff_sign_in for each statement execute function wake_actors();

alter table session_proofs
  add column staff_roles text[],
  drop constraint session_proofs_kind_check,
  add constraint session_proofs_kind_check check (kind in ('local', 'provider', 'recovery', 'staff')) not valid;
comment on column session_proofs.staff_roles is 'by the groups at the sign-in of staff; null: the roles of the account';

alter table auth_flows alter column provider_id drop not null,
  drop constraint auth_flows_kind_check,
  add constraint auth_flows_kind_check check (kind in ('sign_in', 'test', 'factor', 'link', 'staff')) not valid;
comment on column auth_flows.provider_id is 'null: the identity provider of staff';

-- Who is no longer staff signs in with the account.
create function end_staff_proofs() returns trigger language plpgsql as $$
begin
  update session_proofs p set expires = now() from sessions s
  where s.id = p.session_id and s.user_id = new.id and p.kind = 'staff' and p.expires > now();
  return null;
end $$;
create trigger users_no_staff after update of is_staff on users for each row when (old.is_staff and not new.is_staff) execute function end_staff_proofs();

create or replace function session_user_profile(for_user integer, in_team integer, of_session uuid) returns json language sql stable as $$
  select case when l.is_local then p.profile
    else (p.profile::jsonb || jsonb_build_object('teams', coalesce((
      select jsonb_agg(t.team order by t.at) from jsonb_array_elements(p.profile::jsonb -> 'teams') with ordinality t(team, at)
      where exists (select from session_proofs o join identity_providers i on i.id = o.provider_id
        where o.session_id = of_session and o.expires > now() and i.team_id = (t.team ->> 'id')::integer)),
      '[]')))::json end
  from (select user_profile(for_user, in_team) as profile) p,
    (select coalesce(bool_or(o.kind in ('local', 'staff') and coalesce(o.expires > now(), true)), true) as is_local
      from session_proofs o where o.session_id = of_session) l
$$;

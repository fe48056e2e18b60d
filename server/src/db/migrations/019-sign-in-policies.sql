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
comment on column session_proofs.kind is 'local: a password or a passkey of the account; provider: an identity provider of a team; recovery: a recovery code of a team';
comment on column session_proofs.team_id is 'of a recovery code: it opens this team, for its admins';
create index session_proofs_team on session_proofs (team_id) where team_id is not null;
-- A session that was blocked is open on every process.
create trigger session_proofs_recovered after insert on session_proofs for each row when (new.kind = 'recovery') execute function wake_actors();

alter table identity_providers add column problem_mailed timestamptz;
comment on column identity_providers.problem_mailed is 'when its admins were last told that it does not answer: once for each outage';

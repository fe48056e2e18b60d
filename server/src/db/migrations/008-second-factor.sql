-- The second factor of a user, and the teams that require one.

alter table users add column totp_enabled timestamptz;
comment on column users.totp_enabled is 'since when signing in needs a code of the second factor; null while it does not';
alter table teams add column require_2fa boolean not null default false;
alter table sessions add column second_factor boolean not null default false;
comment on column sessions.second_factor is 'whether a code of the second factor opened it';

-- What makes the codes of a user (RFC 6238). The row is there from the day a user begins to set one up.
create table second_factors (
  user_id integer primary key references users on delete cascade,
  secret_sealed bytea not null,
  pending_until timestamptz,
  last_step bigint not null default 0,
  wrong_codes integer not null default 0,
  wrong_since timestamptz not null default now()
);
comment on column second_factors.pending_until is 'until when the first code may turn it on; null once it is on';
comment on column second_factors.last_step is 'the newest time step of which a code was accepted: none up to it is accepted again';
comment on column second_factors.wrong_codes is 'tried since wrong_since, without those that were right; counted for a quarter of an hour';

create table recovery_codes (
  id bigint generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  code_mac bytea not null,
  created timestamptz not null default now(),
  used timestamptz
);
create index recovery_codes_user on recovery_codes (user_id);

-- What is remembered about credentials is forgotten at once when one of these changes, the second factor among them. By
-- a notification alone: counting such changes in one row made every two of them wait for each other until the commit, and
-- sign-outs, switches of the team and new passwords of one user into a deadlock. Nobody read the count.
create function wake_actors() returns trigger language plpgsql as $$
begin
  perform pg_notify('pharos', 'actors');
  return null;
end $$;
drop trigger users_actors on users;
drop trigger memberships_actors on memberships;
drop trigger teams_actors on teams;
drop trigger sessions_actors on sessions;
drop trigger api_tokens_actors on api_tokens;
create trigger users_actors
  after delete or update of is_staff, is_demo, session_version, email_confirmed, totp_enabled on users
  for each statement execute function wake_actors();
create trigger memberships_actors after insert or delete or update on memberships
  for each statement execute function wake_actors();
create trigger teams_actors after delete or update of enabled_modules, require_2fa on teams
  for each statement execute function wake_actors();
create trigger sessions_actors after delete or update of team_id, revoked on sessions
  for each statement execute function wake_actors();
create trigger api_tokens_actors
  after delete or update of scopes, allowed_networks, is_admin, expires, revoked on api_tokens
  for each statement execute function wake_actors();
delete from revisions where name = 'actors';

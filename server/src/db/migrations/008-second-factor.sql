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

-- What a team may do changes at once with what it requires, and with what its members have.
create trigger users_second_factor_actors after update of totp_enabled on users
  for each statement execute function raise_revision('actors');
create trigger teams_second_factor_actors after update of require_2fa on teams
  for each statement execute function raise_revision('actors');

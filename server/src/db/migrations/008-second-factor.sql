-- The second factor of a user, and the teams that require one.

alter table users add column totp_enabled timestamptz;
comment on column users.totp_enabled is 'since when signing in needs a code of the second factor; null while it does not';
alter table teams add column require_2fa boolean not null default false;

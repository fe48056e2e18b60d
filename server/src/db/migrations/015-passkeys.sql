-- phase: expand
-- runs with: 0.2.0
-- How the user of a session has signed in, and passkeys.

create table session_proofs (
  id uuid default gen_random_uuid() primary key,
  session_id uuid not null references sessions on delete cascade,
  kind text not null check (kind = 'local'),
  at timestamptz not null default now(),
  expires timestamptz,
  strong boolean not null
);
comment on table session_proofs is 'a session of the release before has none: it counts as one local proof, strong as sessions.second_factor states';
comment on column session_proofs.kind is 'local: a password or a passkey of the account';
comment on column session_proofs.expires is 'null: as long as the session';
comment on column session_proofs.strong is 'whether a second factor was used, or a passkey that verified the user';
create index session_proofs_session on session_proofs (session_id);

create trigger session_proofs_actors after update or delete on session_proofs for each statement execute function wake_actors();

alter table users add column passkey_added timestamptz;
comment on column users.passkey_added is 'since when the account has a passkey; null while it has none';
grant select (passkey_added) on users to pharos_tenant;

create or replace trigger users_actors after delete or update of is_staff, staff_roles, is_demo, session_version, email_confirmed, totp_enabled,
  passkey_added on users for each statement execute function wake_actors();

-- A row without a secret counts the wrong recovery codes of an account that has passkeys only. Its time is past: earlier releases see a setup
-- that was not completed.
alter table second_factors alter column secret_sealed drop not null,
  add constraint second_factors_secret check (secret_sealed is not null or pending_until is not null) not valid;

create table passkeys (
  id integer generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  credential_id text not null unique check (char_length(credential_id) between 1 and 1400),
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  backed_up boolean not null,
  aaguid uuid not null,
  relying_party text not null,
  name text not null check (char_length(name) between 1 and 100),
  created timestamptz not null default now(),
  last_used timestamptz,
  version integer not null default 1
);
comment on column passkeys.credential_id is 'base64url, as browsers send it';
comment on column passkeys.public_key is 'COSE key (RFC 9052)';
comment on column passkeys.counter is 'signature counter of the last use; 0 for ever if the authenticator has none';
comment on column passkeys.relying_party is 'host of public_url when it was added: browsers offer it for this host only';
create index passkeys_user on passkeys (user_id);
create trigger passkeys_version before update of name on passkeys for each row when (old.name is distinct from new.name) execute function raise_version();

-- Challenges are signed and not stored. The random part of one that was presented is kept until it expires, so that it works once.
create table used_challenges (
  nonce text primary key,
  expires timestamptz not null
);

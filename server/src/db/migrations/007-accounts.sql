-- Accounts: passwords, tokens that come by mail, and how often somebody failed to sign in.

alter table users add column password_chosen timestamptz;
comment on column users.password_chosen is
  'when the user last chose it; null while it is the one that the platform file gave, which then counts no more';

-- What a token that came by mail is bound to: it says nothing any more once the address or the password is another,
-- whoever changed it.
create function account_state(email text, password_hash text) returns bytea language sql immutable strict parallel safe
  as $$ select sha256(convert_to(lower(email) || ' ' || password_hash, 'UTF8')) $$;

create table mail_tokens (
  id uuid primary key,
  user_id integer not null references users on delete cascade,
  purpose text not null check (purpose in ('confirm-email', 'password-reset')),
  secret_mac bytea not null,
  email text not null,
  account_state bytea not null,
  created timestamptz not null default now(),
  expires timestamptz not null
);
create index mail_tokens_user on mail_tokens (user_id);
create index mail_tokens_expires on mail_tokens (expires);
comment on table mail_tokens is 'tokens that were sent by mail and may still be used';
comment on column mail_tokens.email is 'where it was sent: whoever has the token reads that address';
comment on column mail_tokens.account_state is 'account_state() of the user when it was made';

-- Counted here, so that all processes count together. A row is gone a day after its last attempt, or by a success.
create table sign_in_failures (
  account_mac bytea not null,
  origin text not null,
  failures integer not null,
  latest timestamptz not null,
  primary key (account_mac, origin)
);
create index sign_in_failures_latest on sign_in_failures (latest);
comment on column sign_in_failures.account_mac is
  'of the address in lower case, whether or not there is such an account';
comment on column sign_in_failures.origin is
  'a network from which the account signed in lately, or `elsewhere` for all others together';
comment on column sign_in_failures.failures is 'attempts that did not succeed, those among them that are under way';
comment on column sign_in_failures.latest is 'when the latest attempt began';

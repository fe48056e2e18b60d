-- Staff tokens: credentials of the provider's own programs, for the operations of staff. They belong to no team, so the
-- team's role has no right on them.
create table staff_tokens (
  id text primary key check (id ~ '^[a-z2-7]{12}$'),
  name text not null,
  secret_mac bytea not null,
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['admin:read', 'admin:write']),
  allowed_networks cidr[] not null default '{}',
  created timestamptz not null default now(),
  expires timestamptz not null,
  last_used timestamptz,
  last_used_address inet,
  revoked timestamptz
);
comment on column staff_tokens.allowed_networks is 'networks from which it can be used; empty: from everywhere';
comment on column staff_tokens.last_used is 'updated at most once a minute';
create trigger staff_tokens_actors after delete or update of scopes, allowed_networks, expires, revoked on staff_tokens
  for each statement execute function wake_actors();

-- The author of a change has one form everywhere: an actor, as in the audit log.
alter table holds drop constraint holds_decided_by_fkey,
  alter column decided_by type text using 'user:' || decided_by;
comment on column holds.decided_by is 'actor; null while it is open, and if it was closed without a decision';
alter table letters drop constraint letters_reviewed_by_fkey,
  alter column reviewed_by type text using 'user:' || reviewed_by;
comment on column letters.reviewed_by is 'actor; null also if it was accepted without a person';

alter table api_tokens add column creator text;
update api_tokens set creator = coalesce('user:' || created_by, 'operator');
alter table api_tokens alter column creator set not null, alter column creator set default 'operator';
comment on column api_tokens.creator is 'actor; kept after the account is deleted';
comment on column api_tokens.created_by is 'the user, while the account exists: removing the member revokes the token';
grant select (creator), insert (creator) on api_tokens to pharos_tenant;

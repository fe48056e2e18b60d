-- phase: expand
-- runs with: 0.2.0
-- Identity providers of teams: signing in with SAML.

alter table identity_providers
  drop constraint identity_providers_kind_check,
  add constraint identity_providers_kind_check check (kind in ('oidc', 'saml')) not valid,
  alter column secret_sealed drop not null,
  add constraint identity_providers_secret check ((secret_sealed is null) = (kind = 'saml')) not valid;
comment on column identity_providers.secret_sealed is 'client secret, AES-256-GCM under a key derived from the secret; null for SAML, which has none';

create table sso_assertions (
  provider_id integer not null references identity_providers on delete cascade,
  assertion_hash bytea not null,
  expires timestamptz not null,
  primary key (provider_id, assertion_hash)
);
comment on table sso_assertions is 'assertions of SAML that were used, until they expire: each counts once';
comment on column sso_assertions.assertion_hash is 'SHA-256 of the id, which the identity provider chooses';
create index sso_assertions_expires on sso_assertions (expires);
alter table sso_assertions enable row level security;

-- API tokens that teams make by themselves: who made one, from where it was used, and what the team's role may do.

alter table api_tokens
  add column created_by integer references users on delete set null,
  add column last_used_address inet;
comment on column api_tokens.created_by is 'null: the operator made it, or whoever did has no account any more';
comment on column api_tokens.last_used_address is 'where it was used from when last_used was written';
create index api_tokens_created_by on api_tokens (created_by);

-- The MAC of the secret is written by the team's work, and never read: whether a token is genuine is found out before
-- there is a team.
grant select (id, team_id, name, scopes, allowed_networks, is_admin, created, created_by, expires, max_unused_days,
  last_used, last_used_address, revoked) on api_tokens to pharos_tenant;
grant insert (id, team_id, name, secret_mac, scopes, allowed_networks, is_admin, created_by, expires, max_unused_days)
  on api_tokens to pharos_tenant;
grant update (name, allowed_networks, is_admin, expires, revoked) on api_tokens to pharos_tenant;

-- phase: expand
-- runs with: 0.2.0-rc.1
-- Roles of members and invitations (contract/src/role.ts). `is_admin` stays a plain column: the trigger memberships_version compares
-- whole rows, which is not allowed on a table with generated columns.

alter table memberships
  add column roles text[],
  add column roles_source text not null default 'manual' check (roles_source in ('manual', 'provider', 'scim')),
  add constraint memberships_roles check (roles is null or (
    roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6
    and is_admin = ('admin' = any (roles)))) not valid;
comment on column memberships.roles is 'null, as the release before writes it: admin or editor, by is_admin';
comment on column memberships.roles_source is 'who decides on the roles: an admin of the team, or a provider of identities';

alter table invitations
  add column roles text[],
  add constraint invitations_roles check (roles is null or (
    roles <@ '{reader,editor,network,dns,billing,admin}' and cardinality(roles) between 1 and 6
    and is_admin = ('admin' = any (roles)))) not valid;
comment on column invitations.roles is 'null, as the release before writes it: admin or editor, by is_admin';
create or replace trigger invitations_version before update of email, is_admin, roles, token_mac, expires on invitations
  for each row when (old.* is distinct from new.*) execute function raise_version();

-- Members of existing teams who join by a domain keep the rights of a member without the role admin; new teams begin with readers.
alter table teams add column default_roles text[] not null default '{editor}' check (
  default_roles <@ '{reader,editor,network,dns,billing}' and cardinality(default_roles) between 1 and 5);
alter table teams alter column default_roles set default '{reader}';
comment on column teams.default_roles is 'of members who join by a domain, and of is_admin false in requests';

grant update (default_roles) on teams to pharos_tenant;
grant update (roles, roles_source) on memberships to pharos_tenant;
grant select (roles), insert (roles), update (roles) on invitations to pharos_tenant;
grant update (scopes) on api_tokens to pharos_tenant;

-- phase: contract
-- runs with: 0.2.0-rc.1
-- Every member and invitation has roles: admin or editor where the release before wrote none. The ETags stay, since nothing that a
-- client reads changes.

alter table memberships disable trigger memberships_version;
update memberships set roles = case when is_admin then '{admin}' else '{editor}' end::text[] where roles is null;
alter table memberships enable trigger memberships_version;
alter table memberships alter column roles set not null, validate constraint memberships_roles;
comment on column memberships.roles is 'admin or others; is_admin agrees';

alter table invitations disable trigger invitations_version;
update invitations set roles = case when is_admin then '{admin}' else '{editor}' end::text[] where roles is null;
alter table invitations enable trigger invitations_version;
alter table invitations alter column roles set not null, validate constraint invitations_roles;
comment on column invitations.roles is 'admin or others; is_admin agrees';

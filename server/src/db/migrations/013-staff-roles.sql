-- phase: expand
-- runs with: 0.2.0
-- Roles of the provider's staff, and their accesses to the teams of customers.

alter table users add column staff_roles text[];
comment on column users.staff_roles is 'reader, billing, noc or admin; null without staff, and of staff whom the release before made: they are admin';
alter table users add constraint users_staff_roles check (staff_roles is null or (is_staff and
  staff_roles <@ '{reader,billing,noc,admin}' and cardinality(staff_roles) between 1 and 4)) not valid;

create or replace trigger users_actors after delete or update of is_staff, staff_roles, is_demo, session_version, email_confirmed, totp_enabled on users
  for each statement execute function wake_actors();

create table staff_accesses (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  user_id integer references users on delete set null,
  session_id uuid references sessions on delete set null,
  reason text not null check (char_length(reason) between 10 and 500),
  ticket text check (char_length(ticket) between 1 and 100),
  change boolean not null,
  opened timestamptz not null default now(),
  expires timestamptz not null,
  closed timestamptz,
  check (expires > opened and expires <= opened + interval '8 hours')
);
comment on table staff_accesses is 'when staff were in the team of a customer, and why; it counts only in its session, and only while the user is staff';
comment on column staff_accesses.ticket is 'number of a ticket of the provider';
comment on column staff_accesses.change is 'whether operations that change something are allowed';
comment on column staff_accesses.closed is 'when it was closed, or replaced by another one';
create unique index staff_accesses_open on staff_accesses (session_id, team_id) where closed is null;
create index staff_accesses_team on staff_accesses (team_id, id);
create index staff_accesses_user on staff_accesses (user_id);
create index staff_accesses_opened on staff_accesses (opened, id);
alter table staff_accesses enable row level security;
create policy tenant on staff_accesses to pharos_tenant using (team_id = current_team_id());
grant select (id, team_id, expires, closed) on staff_accesses to pharos_tenant;

create trigger staff_accesses_actors after insert or update or delete on staff_accesses for each statement execute function wake_actors();

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (case
    when team_id is null then user_id is null and type in ('approval.opened', 'approval.reminder', 'approval.decided', 'service.billed')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'announcement.not_visible', 'announcement.other_path', 'validation.failed', 'event.started', 'event.updated', 'event.ended', 'incident.started',
      'incident.updated', 'incident.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed', 'team.staff_access') end) not valid;

alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (cardinality(events) > 0 and events <@ case
        when team_id is null then array['approval.opened', 'approval.reminder', 'approval.decided', 'service.billed']
        else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'announcement.not_visible',
          'announcement.other_path', 'validation.failed', 'event.started', 'event.updated', 'event.ended', 'incident.started', 'incident.updated',
          'incident.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
          'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed', 'team.staff_access'] end) not valid;

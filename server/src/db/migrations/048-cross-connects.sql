-- Cross connects of customers with their log, and attachments: files about devices, cross connects and events.

create table attachments (
  id integer generated always as identity primary key,
  customer_id integer references teams on delete cascade,
  subject_kind text not null check (subject_kind in ('device', 'cross_connect', 'event')),
  subject_id text not null,
  purpose text not null default '' check (purpose in ('', 'loa')),
  filename text not null,
  media_type text not null,
  kind text not null check (kind in ('pcap', 'json', 'csv', 'pdf', 'image', 'other')),
  sha256 bytea not null,
  description text not null default '',
  content bytea not null,
  size integer generated always as (length(content)) stored,
  created timestamptz not null default now(),
  created_by text not null
);
create index attachments_subject on attachments (subject_kind, subject_id, id);
comment on column attachments.customer_id is 'the team that sees it; null: every team that sees the subject';
comment on column attachments.purpose is 'loa: letter of authorization (LOA/CFA) of a cross connect';
comment on column attachments.media_type is 'from the content; application/octet-stream unless it is known to be harmless';
comment on column attachments.created_by is 'actor of the audit log';

create table cross_connects (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  service_id integer not null,
  port_id integer references ports on delete set null,
  circuit_id text not null unique,
  name text not null,
  status text not null default 'reserved' check (status in ('reserved', 'awaiting_loa', 'awaiting_connect', 'connected', 'awaiting_cease',
    'ceased', 'broken')),
  location_key text references locations,
  panel text not null default '',
  module text not null default '',
  position text not null default '',
  z_name text not null default '',
  z_circuit_id text not null default '',
  z_panel text not null default '',
  z_module text not null default '',
  z_position text not null default '',
  media text not null default '',
  connector text not null default '',
  provider_ref text not null default '',
  chargeable boolean not null default false,
  requested timestamptz not null default now(),
  changed timestamptz not null default now(),
  connected timestamptz,
  ceased timestamptz,
  created timestamptz not null default now(),
  foreign key (service_id, team_id) references services (id, team_id) on delete cascade
);
create index cross_connects_team on cross_connects (team_id, id);
create index cross_connects_port on cross_connects (port_id) where port_id is not null;
create index cross_connects_service on cross_connects (service_id);
comment on column cross_connects.panel is 'panel, module and position of the provider, which is side A; z_*: of the other side';
comment on column cross_connects.provider_ref is 'number of the order at the data center';
comment on column cross_connects.changed is 'last change of the status';

create table cross_connect_log (
  id integer generated always as identity primary key,
  cross_connect_id integer not null references cross_connects on delete cascade,
  team_id integer not null,
  at timestamptz not null default now(),
  before text not null,
  after text not null,
  note text not null default '',
  actor text not null
);
create index cross_connect_log_of on cross_connect_log (cross_connect_id, id desc);
comment on table cross_connect_log is 'changes of the status; `actor`: customer or provider';

alter table attachments enable row level security;
alter table cross_connects enable row level security;
alter table cross_connect_log enable row level security;
create policy tenant on attachments to pharos_tenant using (
  customer_id = current_team_id() or (customer_id is null and case subject_kind
    when 'device' then exists (select from devices d where d.id::text = attachments.subject_id)
    when 'cross_connect' then exists (select from cross_connects c where c.id::text = attachments.subject_id)
    else false end));
create policy tenant on cross_connects to pharos_tenant using (team_id = current_team_id());
create policy tenant on cross_connect_log to pharos_tenant using (team_id = current_team_id());
grant select, insert on attachments to pharos_tenant;
grant select on cross_connects, cross_connect_log to pharos_tenant;

alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended',
      'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'service.billed', 'cross_connect.status_changed') end);
alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (
  cardinality(events) > 0 and events <@ case when team_id is null
    then array['hold.opened', 'hold.reminder', 'hold.decided']
    else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'validation.failed',
      'event.started', 'event.updated', 'event.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed',
      'port.status_changed', 'port.optic_warning', 'service.billed', 'cross_connect.status_changed'] end);

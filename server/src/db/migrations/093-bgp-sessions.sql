-- phase: expand
-- runs with: 0.2.0-rc.1
-- The BGP sessions of devices, and of which port each is.

alter table ports add column bgp_peers text[] not null default '{}';
comment on column ports.bgp_peers is 'neighbors whose sessions belong to it, beside those in the networks of its interface; canonical';

create table bgp_sessions (
  id integer generated always as identity primary key,
  device_id integer not null references devices on delete cascade,
  instance text not null default '',
  peer inet not null,
  peer_asn bigint,
  state text not null,
  established timestamptz,
  prefixes jsonb not null default '[]',
  reset timestamptz,
  reset_code smallint,
  reset_subcode smallint,
  reset_text text not null default '',
  port_id integer references ports on delete set null,
  seen timestamptz not null default now(),
  unique (device_id, instance, peer)
) with (fillfactor = 70);
create index bgp_sessions_port on bgp_sessions (port_id) where port_id is not null;
comment on table bgp_sessions is 'sessions that a device has listed within a day';
comment on column bgp_sessions.instance is 'routing instance, as the device numbers it; empty for the only one';
comment on column bgp_sessions.established is 'since when it is established, or when it was last; null if never';
comment on column bgp_sessions.prefixes is 'by family: received and limit, which may be null';
comment on column bgp_sessions.reset is 'when it was last found not to be established any more; with the code, subcode and text of the NOTIFICATION';
comment on column bgp_sessions.port_id is 'the sold port of the neighbor; null if there is none';

alter table bgp_sessions enable row level security;
create policy tenant on bgp_sessions for all to pharos_tenant using (
  current_team_id() is not null and exists (select from ports p where p.id = bgp_sessions.port_id));
grant select on bgp_sessions to pharos_tenant;

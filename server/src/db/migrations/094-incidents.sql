-- phase: expand
-- runs with: 0.2.0-rc.1
-- Incidents: the events of a team on one target and time, whatever the number of detectors. Events from before are each an incident of their own.

alter table team_events add column incident text collate "C";
comment on column team_events.incident is 'the event that its incident has its id of; null: the event itself';
create index team_events_incident on team_events (team_id, incident, start_at, event_id) where incident is not null;

-- The networks that can cover others: few, as most targets are addresses.
create index team_events_wide on team_events using gist (affected_network inet_ops)
  where masklen(affected_network) < case family(affected_network) when 4 then 32 else 128 end;
create index event_networks_wide on event_networks using gist (network inet_ops)
  where masklen(network) < case family(network) when 4 then 32 else 128 end;

-- Content of the last message about an incident.
create table incident_reports (
  team_id integer not null references teams on delete cascade,
  incident_id text collate "C" not null,
  start_at timestamptz not null,
  end_at timestamptz,
  affected_bps bigint not null,
  affected_pps bigint not null,
  event_count integer not null,
  sources text[] not null,
  reported timestamptz not null default now(),
  primary key (team_id, incident_id)
);
create index incident_reports_age on incident_reports (reported);
comment on table incident_reports is 'incidents that messages have reported, as the last one of each did';
alter table incident_reports enable row level security;
create policy tenant on incident_reports to pharos_tenant using (team_id = current_team_id());

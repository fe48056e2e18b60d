-- What a team sees of an event that affects networks of others as well: see server/src/analysis/team-part.ts.

alter table team_events add column parsed_data text;
comment on column team_events.parsed_data is
  'JSON, the team''s part; null: the team holds all networks of the event, and events.parsed_data is shown';

-- The event itself holds what was seen on all networks. By key only: a scan would ask once per row.
drop policy tenant on events;
create policy tenant on events to pharos_tenant using (exists (
  select from team_events te
  where te.team_id = current_team_id() and te.event_id = events.id and te.parsed_data is null));

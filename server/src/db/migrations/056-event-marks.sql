-- Marks of events: what Pharos itself does about an event of a team, such as dropping it by the team's rules.
create table event_marks (
  team_id integer not null references teams(id) on delete cascade,
  event_id text not null references events(id) on delete cascade,
  marks jsonb not null default '{}',
  primary key (event_id, team_id)
);
comment on column event_marks.marks is 'by the name of a status or flag of the contract: since when; no delivery changes it';
create index event_marks_mitigated on event_marks (team_id, event_id) where marks ? 'MITIGATION_ACTIVE';
alter table event_marks enable row level security;
create policy tenant on event_marks using (team_id = current_team_id());
grant select on event_marks to pharos_tenant;

alter table shield_installs add column held jsonb not null default '[]';
comment on column shield_installs.held is 'the rules of the list that the scrubber held when it was last read, in their order';

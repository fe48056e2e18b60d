-- Rows of a team's hours are far apart in the table, since all teams write at the same time: a year of a large team was 65,000 blocks. The
-- index has all values, so that a series reads it alone.
alter table team_event_hours drop constraint team_event_hours_pkey;
alter table team_event_hours add primary key (team_id, minutes, at, classification_key)
  include (started, ended, max_bps, max_pps);

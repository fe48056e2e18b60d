-- phase: expand
-- runs with: 0.2.0-rc.1
-- Thresholds of traffic that is sent and of the time for which a limit is exceeded; thresholds of teams beside those of the operator.

alter table detector_thresholds
  add column outgoing_bps double precision,
  add column outgoing_pps double precision,
  add column min_seconds integer,
  add column managed_by text not null default 'platform',
  add column locked boolean not null default false;
alter table detector_thresholds
  add constraint detector_thresholds_outgoing_bps_check check (outgoing_bps > 0) not valid,
  add constraint detector_thresholds_outgoing_pps_check check (outgoing_pps > 0) not valid,
  add constraint detector_thresholds_min_seconds_check check (min_seconds between 0 and 600) not valid,
  add constraint detector_thresholds_managed_by_check check (managed_by in ('platform', 'team')) not valid,
  add constraint detector_thresholds_locked_check check (not locked or managed_by = 'platform') not valid;
alter table detector_thresholds validate constraint detector_thresholds_outgoing_bps_check;
alter table detector_thresholds validate constraint detector_thresholds_outgoing_pps_check;
alter table detector_thresholds validate constraint detector_thresholds_min_seconds_check;
alter table detector_thresholds validate constraint detector_thresholds_managed_by_check;
alter table detector_thresholds validate constraint detector_thresholds_locked_check;
alter table detector_thresholds drop constraint detector_thresholds_team_id_prefix_key,
  add constraint detector_thresholds_team_id_prefix_key unique nulls not distinct (team_id, prefix, managed_by);
comment on table detector_thresholds is 'thresholds of the platform file and of teams; those of the source of kind flows are the default for everybody else';
comment on column detector_thresholds.network_bps is 'of a whole network of the ladder or a held prefix; null: four times bps';
comment on column detector_thresholds.outgoing_bps is 'from one address; null: bps';
comment on column detector_thresholds.min_seconds is 'for which the limit must be exceeded; null: 0';
comment on column detector_thresholds.managed_by is 'platform: the platform file; team: replaces the one of the platform for the same addresses, unless it is locked';
comment on column detector_thresholds.locked is 'the team cannot replace it';

-- phase: expand
-- runs with: 0.2.0-rc.1
-- Attacks that a network sends: one on the same network may be open at the same time.

create table detector_outgoing_attacks (
  network cidr primary key,
  id text not null,
  collector text not null,
  ended timestamptz,
  observed timestamptz not null
);
comment on table detector_outgoing_attacks is 'the newest attack from each network, as detector_attacks of those on it';
comment on column detector_outgoing_attacks.id is 'source_event_id of its event';
comment on column detector_outgoing_attacks.collector is 'whose reports are stored';
comment on column detector_outgoing_attacks.observed is 'time of the last stored report, by the clock of its collector';
alter table detector_outgoing_attacks enable row level security;

-- The detector over several collectors: what each of them sees, and which attacks are open.

create table detector_rates (
  collector text primary key,
  updated timestamptz not null default now(),
  targets jsonb not null
) with (fillfactor = 50);
comment on table detector_rates is 'rates that each collector sees towards destinations that it suspects; old rows are those of collectors that ended';
alter table detector_rates enable row level security;

create table detector_attacks (
  network cidr primary key,
  id text not null,
  collector text not null,
  ended timestamptz,
  observed timestamptz not null
);
comment on table detector_attacks is 'the newest attack on each network, by which the reports of several collectors become one event';
comment on column detector_attacks.id is 'source_event_id of its event';
comment on column detector_attacks.collector is 'whose reports are stored';
comment on column detector_attacks.observed is 'time of the last stored report, by the clock of its collector';
alter table detector_attacks enable row level security;

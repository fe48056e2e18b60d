-- phase: expand
-- runs with: 0.2.0-rc.1
-- The delay of the flow store, for answers about flows: the oldest flows that wait at each collector, and the times of lost ones.

create table flow_delays (
  collector text not null primary key,
  reported timestamptz not null,
  waiting_since timestamptz,
  lost tstzmultirange not null default '{}'
);
comment on table flow_delays is 'a row for each collector of flows';
comment on column flow_delays.waiting_since is 'when the first flow of the oldest file that waits was received; null if none waits';
comment on column flow_delays.lost is 'times of which flows were lost by the collector';
alter table flow_delays enable row level security;

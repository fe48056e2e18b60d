-- Octets of attacks that ports received, from flows: flows are kept for days, and a month is billed after its end.

create table port_attack_octets (
  team_id integer not null references teams on delete cascade,
  port_id integer not null references ports on delete cascade,
  bucket timestamptz not null,
  octets bigint not null check (octets >= 0),
  primary key (team_id, port_id, bucket)
);
comment on table port_attack_octets is 'by buckets of 5 minutes; a row of 0 at midnight of UTC: flows of the port were received on that day';
comment on column port_attack_octets.octets is 'towards targets of events that the team had, while they lasted; estimated from sampled flows';

alter table port_attack_octets enable row level security;
create policy tenant on port_attack_octets to pharos_tenant using (team_id = current_team_id());
grant select on port_attack_octets to pharos_tenant;

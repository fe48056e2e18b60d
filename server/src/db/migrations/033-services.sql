-- The services that teams have bought. The platform file writes them; a team reads its own.

create table services (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  name text not null,
  type text not null check (type in ('transit', 'ddos', 'byoip', 'dns', 'cross_connect', 'sdwan', 'wave', 'colo')),
  state text not null default 'production' check (state in ('requested', 'scheduled', 'allocated', 'testing', 'production',
    'production_change_pending', 'decommission_requested', 'decommissioned', 'archived', 'cancelled', 'error', 'operator')),
  location_key text references locations,
  commit_bps bigint check (commit_bps >= 0),
  burst_bps bigint check (burst_bps >= commit_bps),
  start_date date,
  end_date date check (end_date >= start_date),
  external_ref text not null default '',
  billing_ref text not null default '',
  asn bigint check (asn between 1 and 4294967295),
  created timestamptz not null default now(),
  unique (team_id, name)
);
comment on column services.state is 'as in IX-API 2';
comment on column services.commit_bps is 'committed rate, bits per second';
comment on column services.burst_bps is 'highest rate, bits per second';
comment on column services.external_ref is 'reference of the customer';

alter table services enable row level security;
create policy tenant on services to pharos_tenant using (team_id = current_team_id());
grant select on services to pharos_tenant;

-- Black holes: routes of single hosts with the community BLACKHOLE, which end by themselves.

alter table regions add column blackhole_next_hop jsonb not null default '{}';
comment on column regions.blackhole_next_hop is 'addresses that its edge routers discard, as ipv4 and ipv6; absent: 192.0.2.1 and 100::1';

create table blackholes (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  host cidr not null check (masklen(host) = case family(host) when 4 then 32 else 128 end),
  event_id text,
  comment text not null default '',
  forced boolean not null,
  created timestamptz not null default now(),
  expires timestamptz not null check (expires <= created + interval '25 hours'),
  ended timestamptz,
  unique (id, team_id)
);
create index blackholes_team on blackholes (team_id, created, id);
create index blackholes_host on blackholes (host, id);
create index blackholes_due on blackholes (expires) where ended is null;
create index blackholes_event on blackholes (event_id) where event_id is not null;
comment on column blackholes.expires is 'never extended; an hour more than the API allows, for clocks that differ';
comment on column blackholes.ended is 'null until it was ended or its time is over; the routes depend on expires too, so that a late loop extends nothing';

create table blackhole_regions (
  blackhole_id integer not null,
  region_id integer not null references regions on delete cascade,
  team_id integer not null,
  state text not null check (state in ('withdrawn', 'announcing', 'announced', 'withdrawing', 'error')),
  since timestamptz not null default now(),
  reason text,
  attrs jsonb,
  primary key (blackhole_id, region_id),
  foreign key (blackhole_id, team_id) references blackholes (id, team_id) on delete cascade
);
create index blackhole_regions_region on blackhole_regions (region_id, blackhole_id);
comment on column blackhole_regions.state is 'what was last seen on the routers, as in announcement_regions';

create index event_marks_blackholed on event_marks (team_id, event_id) where marks ? 'BLACKHOLED';

/* The number of hosts that are black-holed in a region, of all teams, without one host of the team that asks. */
create function blackholes_in_region(region integer, team integer, except_host cidr) returns integer
language sql stable security definer set search_path = public, pg_temp as $$
  select count(*)::integer from blackhole_regions br join blackholes b on b.id = br.blackhole_id
  where br.region_id = region and b.ended is null and b.expires > now() and not (b.team_id = team and b.host = except_host)
$$;
revoke execute on function blackholes_in_region from public;
grant execute on function blackholes_in_region, shield_holds to pharos_tenant;

alter table blackholes enable row level security;
alter table blackhole_regions enable row level security;
create policy tenant on blackholes to pharos_tenant using (team_id = current_team_id());
create policy tenant on blackhole_regions to pharos_tenant using (team_id = current_team_id());
grant select, insert on blackholes to pharos_tenant;
grant update (ended) on blackholes to pharos_tenant;
grant select, insert on blackhole_regions to pharos_tenant;
grant update (state, since, reason, attrs) on blackhole_regions to pharos_tenant;

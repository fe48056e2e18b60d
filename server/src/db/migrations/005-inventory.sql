-- Address space and ASNs of teams, services, devices, ports and their assignments, usage and bills.

set local check_function_bodies = off;

create table prefixes (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null,
  name text not null default '',
  location_key text references locations,
  matched boolean not null default false,
  created timestamptz not null default now(),
  unique (team_id, prefix)
);
comment on column prefixes.matched is 'false until past events have been matched against it';
create index prefixes_unmatched on prefixes (id) where not matched;
create index prefixes_covering on prefixes using gist (prefix inet_ops);
alter table prefixes enable row level security;
create policy tenant on prefixes to pharos_tenant using (team_id = current_team_id());
grant select on prefixes to pharos_tenant;

create trigger prefixes_ownership after insert or delete or update of team_id, prefix, name, location_key on prefixes for each statement execute
  function raise_revision('ownership');

create function resource_changed() returns trigger language plpgsql as $$
begin
  new.matched := false;
  return new;
end $$;
create trigger prefixes_changed before update of team_id, prefix, name, location_key on prefixes for each row execute function resource_changed();

create function resource_removed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into removed_resources (match_resource, match_resource_id) values (tg_argv[0], old.id) on conflict do nothing;
  return null;
end $$;
create trigger prefixes_removed after delete on prefixes for each row execute function resource_removed('prefix');

create function keep_former_holding() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  -- If the whole team is deleted, no team may see its events.
  insert into former_holdings (team_id, prefix, held_from, held_until)
    select old.team_id, old.prefix, case tg_argv[0] when 'prefix' then (to_jsonb(old) ->> 'created')::timestamptz
      else (to_jsonb(old) ->> 'claimed')::timestamptz end, now()
    where exists (select from teams where id = old.team_id);
  return null;
end $$;
create trigger prefixes_held after delete on prefixes for each row execute function keep_former_holding('prefix');

create table asns (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  asn bigint not null check (asn between 1 and 4294967295),
  name text not null default '',
  verified timestamptz,
  matched boolean not null default false,
  created timestamptz not null default now(),
  verified_by text check (verified_by in ('rdap_email', 'peeringdb', 'aut_num', 'dns_txt', 'roa')),
  expires timestamptz,
  revoked timestamptz,
  revoked_reason text,
  unique (team_id, asn),
  constraint asns_proof check ((verified_by is null) = (expires is null) and (verified_by is null or verified is not null)),
  constraint asns_proof_of_asn check (verified_by not in ('dns_txt', 'roa')),
  constraint asns_revoked check ((revoked is null) = (revoked_reason is null) and (revoked is null or verified is null))
);
comment on column asns.verified is 'since when the team is known to hold it; null where it is not, or no longer';
comment on column asns.verified_by is 'the method by which the team proved it; null where the operator''s file says so';
comment on column asns.expires is 'when the proof ends unless it is seen again; null for the operator''s word, which does not end';
comment on column asns.revoked is 'when the operator revoked the verification; proofs of the team do not count until the operator verifies it again';
create index asns_unmatched on asns (id) where not matched;
create index asns_expires on asns (expires) where expires is not null;
create unique index asns_one_holder on asns (asn) where verified is not null;
alter table asns enable row level security;
create policy tenant on asns to pharos_tenant using (team_id = current_team_id());
grant select, insert (team_id, asn, verified, verified_by, expires), update (verified, verified_by, expires) on asns to pharos_tenant;

create trigger asns_ownership after insert or delete or update of team_id, asn, name on asns for each statement execute function
  raise_revision('ownership');
create trigger asns_changed before update of team_id, asn, name on asns for each row execute function resource_changed();
create trigger asns_removed after delete on asns for each row execute function resource_removed('asn');

-- Whether another team is verified for the ASN, without its name.
create function asn_is_held(team integer, wanted bigint) returns boolean language sql stable security definer set search_path = public, pg_temp
  as $$ select exists (select from asns a
    where a.asn = wanted and a.team_id <> team and a.verified is not null and (a.expires is null or a.expires > now())) $$;
revoke execute on function asn_is_held from public;
grant execute on function asn_is_held to pharos_tenant;

-- Ends an expired proof of another team that the daily check has not ended yet, so that the holder can be verified.
create function end_expired_asn(wanted bigint) returns void language sql security definer set search_path = public, pg_temp as $$
    with ended as (
      select id, team_id, asn, verified, verified_by, expires from asns
      where asn = wanted and verified is not null and expires <= now()),
    audited as (
      insert into audit_entries (team_id, actor, action, target, before, after)
      select team_id, 'pharos', 'asn.expire', 'asn:' || asn,
        jsonb_build_object('verified', verified, 'verifiedBy', verified_by, 'expires', expires),
        jsonb_build_object('verified', null, 'verifiedBy', null, 'expires', null)
      from ended)
    update asns a set verified = null, verified_by = null, expires = null from ended where a.id = ended.id
  $$;
revoke execute on function end_expired_asn from public;
grant execute on function end_expired_asn to pharos_tenant;

-- A changed resource is matched against past events again; of a removed one, the relationships are deleted. The rematch loop does both.
create table removed_resources (
  match_resource text not null check (match_resource in ('announcement', 'prefix', 'service', 'port', 'asn')),
  match_resource_id integer not null,
  removed timestamptz not null default now(),
  primary key (match_resource, match_resource_id)
);

-- Former prefixes of a team and their times: it may still see events of that time that concern no other team.
create table former_holdings (
  id bigint generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  prefix cidr not null,
  held_from timestamptz not null,
  held_until timestamptz not null
);
create index former_holdings_team on former_holdings (team_id, prefix);
alter table former_holdings enable row level security;
create policy tenant on former_holdings to pharos_tenant using (team_id = current_team_id());

create table services (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  name text not null,
  type text not null check (type in ('transit', 'ddos', 'byoip', 'dns', 'cross_connect', 'sdwan', 'wave', 'colo')),
  state text not null default 'production' check (state in ('requested', 'scheduled', 'allocated', 'testing', 'production', 'production_change_pending',
    'decommission_requested', 'decommissioned', 'archived', 'cancelled', 'error', 'operator')),
  location_key text references locations,
  commit_bps bigint check (commit_bps >= 0),
  burst_bps bigint,
  start_date date,
  end_date date,
  external_ref text not null default '',
  billing_ref text not null default '',
  asn bigint check (asn between 1 and 4294967295),
  created timestamptz not null default now(),
  billing_method text not null default 'flat' check (billing_method in ('p90', 'p95', 'p98', 'average', 'flat', 'volume')),
  billing_direction text not null default 'max' check (billing_direction in ('in', 'out', 'max', 'max_sample', 'sum')),
  billing_scope text not null default 'port' check (billing_scope in ('port', 'service')),
  billing_timezone text not null default 'UTC',
  managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox')),
  billing_commit_scope text not null default 'service' check (billing_commit_scope in ('port', 'service')),
  billing_day integer not null default 1 check (billing_day between 1 and 28),
  billing_included_octets bigint check (billing_included_octets >= 0),
  billing_prices jsonb,
  pool_id integer,
  unique (team_id, name),
  unique (id, team_id),
  check (burst_bps >= commit_bps),
  constraint services_check1 check (end_date >= start_date),
  constraint services_pool_check check (pool_id <> id),
  foreign key (pool_id, team_id) references services(id, team_id) on delete set null(pool_id)
);
comment on column services.state is 'as in IX-API 2';
comment on column services.commit_bps is 'committed rate, bits per second';
comment on column services.burst_bps is 'highest rate, bits per second';
comment on column services.external_ref is 'reference of the customer';
comment on column services.billing_method is 'p90, p95, p98: percentiles of buckets of 5 minutes; average of them; volume: octets; flat: not by traffic';
comment on column services.billing_direction is 'as the customer sees it; max: the greater of both figures; max_sample: of the greater direction of each bucket; sum: of both added per bucket';
comment on column services.billing_scope is 'port: each by itself; service: all ports added per bucket';
comment on column services.billing_timezone is 'IANA name: a month begins at its midnight';
comment on column services.billing_commit_scope is 'of the commit and the included octets; port: of each, added for a bill; service: of all ports together';
comment on column services.billing_day is 'day of the calendar month on which a month begins';
comment on column services.billing_included_octets is 'of a month, for volume';
comment on column services.billing_prices is 'as the API returns it; null: bills have no prices';
comment on column services.pool_id is 'the service of the team that bills its ports; null: itself';
create index services_pool on services (pool_id) where pool_id is not null;
alter table services enable row level security;
create policy tenant on services to pharos_tenant using (team_id = current_team_id());
grant select on services to pharos_tenant;

create table device_credentials (
  id integer generated always as identity primary key,
  name text not null unique,
  version text not null check (version in ('v2c', 'v3')),
  user_name text not null default '',
  auth text check (auth in ('md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512')),
  privacy text check (privacy in ('aes128', 'aes256b', 'aes256r')),
  community_sealed bytea,
  auth_sealed bytea,
  privacy_sealed bytea,
  created timestamptz not null default now()
);
comment on table device_credentials is 'SNMP credentials of the provider';
comment on column device_credentials.user_name is 'of SNMPv3';
comment on column device_credentials.privacy is 'aes256r: with the key extension of Cisco; aes256b: of Blumenthal';
comment on column device_credentials.community_sealed is 'bound to the name, as both passwords';

create collation natural_order (provider = icu, locale = 'und-u-kn-true');

create table devices (
  id integer generated always as identity primary key,
  name text collate natural_order not null unique,
  role text not null default '',
  vendor text not null default '',
  model text not null default '',
  serial text not null default '',
  location_key text references locations,
  management_address text,
  driver text not null default 'none',
  settings jsonb not null default '{}',
  credential_id integer references device_credentials,
  customer_id integer references teams on delete set null,
  maintenance_until timestamptz,
  tags text[] not null default '{}',
  external_ref text not null default '',
  managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox')),
  created timestamptz not null default now(),
  check (driver <> 'snmp' or (management_address is not null and credential_id is not null))
);
comment on column devices.vendor is 'empty, as model and serial: as the device reports it, in device_states';
comment on column devices.driver is 'how its interfaces and counters are read; none: not at all';
comment on column devices.settings is 'of the driver';
comment on column devices.customer_id is 'the team, if the device is of one customer, who sees all of its interfaces';
comment on column devices.maintenance_until is 'polled until then, without warnings';
create index devices_customer on devices (customer_id) where customer_id is not null;
alter table devices enable row level security;
grant select (id, name, role, vendor, model, serial, location_key, management_address, driver, customer_id, maintenance_until, tags, external_ref,
  created) on devices to pharos_tenant;

create table device_states (
  device_id integer primary key references devices on delete cascade,
  identity jsonb not null default '{}',
  booted timestamptz,
  seen timestamptz,
  surveyed timestamptz,
  error text,
  error_text text,
  missed integer not null default 0,
  next_poll timestamptz not null default now(),
  next_survey timestamptz not null default now(),
  lease_until timestamptz,
  lease_owner text,
  next_gauges timestamptz not null default now()
) with (fillfactor = 50);
comment on table device_states is 'observations of a device, and when it is polled next';
comment on column device_states.identity is 'name, vendor, model, serial and software, as the device reports them';
comment on column device_states.seen is 'last answer to a poll';
comment on column device_states.error is 'kind of the last failure; null after an answer';
comment on column device_states.error_text is 'for operators';
comment on column device_states.missed is 'polls without an answer since the last one';
comment on column device_states.next_gauges is 'when its gauges are read next';
create index device_states_next_poll on device_states (next_poll);
alter table device_states enable row level security;
create policy tenant on device_states to pharos_tenant using (exists (select from devices d where d.id = device_states.device_id));
grant select (device_id, identity, booted, seen, error, missed, next_poll, lease_until) on device_states to pharos_tenant;

create table interfaces (
  id integer generated always as identity primary key,
  device_id integer not null references devices on delete cascade,
  key text not null,
  if_index integer not null,
  name text collate natural_order not null,
  alias text not null default '',
  type integer not null,
  mtu integer,
  mac text,
  admin text not null default 'unknown',
  oper text not null default 'unknown',
  speed_bps bigint,
  lag_id integer references interfaces on delete set null,
  addresses text[] not null default '{}',
  last_change timestamptz,
  seen timestamptz not null default now(),
  missing_surveys integer not null default 0,
  in_errors bigint,
  out_errors bigint,
  in_discards bigint,
  out_discards bigint,
  unique (device_id, key)
);
comment on column interfaces.key is 'its name, or its description; with # and the index if that is not unique on the device';
comment on column interfaces.if_index is 'number on the device, which a restart may change';
comment on column interfaces.type is 'IANAifType';
comment on column interfaces.admin is 'ifAdminStatus of RFC 2863';
comment on column interfaces.oper is 'ifOperStatus of RFC 2863';
comment on column interfaces.missing_surveys is 'surveys since the device listed it; from 3 on it is gone';
comment on column interfaces.in_errors is 'as the others: since the device has started; null if it does not count them';
create index interfaces_lag on interfaces (lag_id) where lag_id is not null;
alter table interfaces enable row level security;
grant select on interfaces to pharos_tenant;

create table ports (
  id integer generated always as identity primary key,
  circuit_id text not null,
  name text collate natural_order not null,
  device_id integer references devices,
  interface_key text not null,
  interface_id integer references interfaces on delete set null,
  media text not null default '',
  speed_bps bigint check (speed_bps > 0),
  description text not null default '',
  panel text not null default '',
  module text not null default '',
  position text not null default '',
  external_ref text not null default '',
  managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox')),
  created timestamptz not null default now(),
  interface_since timestamptz,
  ended timestamptz,
  bgp_peers text[] not null default '{}',
  unique (device_id, interface_key),
  constraint ports_place_or_end check (ended is not null or device_id is not null),
  constraint ports_circuit_id_key exclude (circuit_id with =) where (ended is null)
);
comment on table ports is 'interfaces that are sold';
comment on column ports.interface_key is 'key of the interface on the device, which need not exist yet';
comment on column ports.speed_bps is 'as sold; null: that of the interface';
comment on column ports.panel is 'panel, module and position of the patch panel of the provider';
comment on column ports.interface_since is 'since when it has its interface; null if neither the port nor the interface had another one before';
comment on column ports.ended is 'when it was taken away; it is deleted once its samples are';
comment on column ports.bgp_peers is 'neighbors whose sessions belong to it, beside those in the networks of its interface; canonical';
create unique index ports_interface on ports (interface_id) where interface_id is not null;
alter table ports enable row level security;
grant select on ports to pharos_tenant;

create table port_assignments (
  id integer generated always as identity primary key,
  port_id integer not null references ports on delete cascade,
  service_id integer,
  team_id integer not null references teams on delete cascade,
  valid tstzrange not null check (not isempty(valid) and lower(valid) is not null and lower_inc(valid) and not upper_inc(valid)),
  constraint port_assignments_one_service exclude using gist (int4range(port_id, port_id, '[]') with &&, valid with &&),
  foreign key (service_id, team_id) references services(id, team_id) on delete set null(service_id)
);
comment on table port_assignments is 'the service, and so the team, that a port belongs to, from when until when';
comment on column port_assignments.service_id is 'null: the service was deleted; its team keeps the usage';
create index port_assignments_team on port_assignments (team_id, port_id);
create index port_assignments_port on port_assignments (port_id);
create index port_assignments_service on port_assignments (service_id);
alter table port_assignments enable row level security;
create policy tenant on port_assignments to pharos_tenant using (team_id = current_team_id());
grant select on port_assignments to pharos_tenant;

create view visible_devices with (security_barrier) as
  select (select current_team_id()) as team_id, d.id, d.name, d.role, d.vendor, d.model, d.serial, d.location_key, d.management_address,
    d.customer_id, d.maintenance_until, d.tags, s.identity, s.booted, s.seen, s.error, s.missed, s.next_poll, s.lease_until
  from devices d left join device_states s on s.device_id = d.id
  where d.id in (
    select own.id from devices own where own.customer_id = (select current_team_id())
    union select p.device_id from port_assignments a join ports p on p.id = a.port_id
      where a.team_id = (select current_team_id()) and a.valid @> now());
comment on view visible_devices is 'devices of the team of the transaction, and those of its ports, with their state';
grant select on visible_devices to pharos_tenant;

create table interface_counters (
  interface_id integer primary key references interfaces on delete cascade,
  state jsonb not null,
  open jsonb,
  mac text,
  type integer not null,
  dropped text,
  dropped_at timestamptz,
  held jsonb
) with (fillfactor = 50);
comment on table interface_counters is 'the last reading of the counters of each interface that is a port';
comment on column interface_counters.state is 'the reading; counters are texts, since they exceed 2^53';
comment on column interface_counters.open is 'the minute that is not over yet';
comment on column interface_counters.mac is 'of the interface at the reading, as the type: another one means another interface';
comment on column interface_counters.dropped is 'why the last increase that was dropped is unknown';
comment on column interface_counters.held is 'state and open minute before a last reading that does not fit; counting goes on from there if the next one fits';
alter table interface_counters enable row level security;
create policy tenant on interface_counters to pharos_tenant using (exists (select from interfaces i join ports p on p.device_id = i.device_id and
  p.interface_key = i.key join port_assignments a on a.port_id = p.id where i.id = interface_counters.interface_id and a.team_id = current_team_id()
  and a.valid @> now()));
grant select on interface_counters to pharos_tenant;

create table port_samples (
  port_id integer not null references ports on delete cascade,
  minute timestamptz not null,
  covered_ms integer not null check (covered_ms between 0 and 60000),
  octets_in bigint,
  octets_out bigint,
  packets_in bigint,
  packets_out bigint,
  errors_in bigint,
  errors_out bigint,
  discards_in bigint,
  discards_out bigint,
  primary key (port_id, minute)
) partition by range(minute);
comment on table port_samples is 'what a port counted in each minute of the last two days; in and out as the device sees them';
comment on column port_samples.covered_ms is 'the part of the minute that was measured';
comment on column port_samples.octets_in is 'null, as the others: the device has no such counter';
alter table port_samples enable row level security;
create policy tenant on port_samples to pharos_tenant using (exists (select from port_assignments a where a.port_id = port_samples.port_id and
  a.team_id = current_team_id() and a.valid @> port_samples.minute));
grant select on port_samples to pharos_tenant;

create table port_samples_default partition of port_samples default;

create function create_sample_partition(day date) returns void language plpgsql as $$
declare
  part text := 'port_samples_' || to_char(day, 'YYYY_MM_DD');
  first timestamptz := day::timestamp at time zone 'UTC';
  past timestamptz := (day + 1)::timestamp at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtext('create_sample_partition'));
  if to_regclass(part) is not null then
    return;
  end if;
  lock table port_samples_default in access exclusive mode;
  execute format('create table %I (like port_samples including defaults including constraints including indexes)', part);
  execute format('with moved as (delete from port_samples_default where minute >= %L and minute < %L returning *)
    insert into %I select * from moved', first, past, part);
  execute format('alter table port_samples attach partition %I for values from (%L) to (%L)', part, first, past);
end $$;

create table port_days (
  port_id integer not null references ports on delete cascade,
  seconds integer not null check (seconds = 60 or seconds = 300),
  day date not null,
  covered_ms integer[] not null,
  octets_in bigint[] not null,
  octets_out bigint[] not null,
  packets_in bigint[] not null,
  packets_out bigint[] not null,
  errors_in bigint[] not null,
  errors_out bigint[] not null,
  discards_in bigint[] not null,
  discards_out bigint[] not null,
  primary key (port_id, seconds, day)
);
comment on table port_days is 'a past day (UTC) of a port: one element for each bucket of `seconds`';
comment on column port_days.covered_ms is 'null, as the others: nothing was measured';
alter table port_days enable row level security;
create policy tenant on port_days to pharos_tenant using (exists (select from port_assignments a where a.port_id = port_days.port_id and a.team_id =
  current_team_id() and a.valid && tstzrange(port_days.day::timestamp at time zone 'UTC', (port_days.day + 1)::timestamp at time zone 'UTC')));
grant select on port_days to pharos_tenant;

create function compact_samples(day date) returns boolean language plpgsql as $$
declare
  part text := 'port_samples_' || to_char(day, 'YYYY_MM_DD');
  first timestamptz := day::timestamp at time zone 'UTC';
begin
  perform pg_advisory_xact_lock(hashtext('create_sample_partition'));
  if to_regclass(part) is null then
    return false;
  end if;
  execute format('lock table %I in access exclusive mode', part);
  execute format($sql$
    insert into port_days
    select p.port_id, r.seconds, %L,
      array_agg(b.covered_ms order by slot), array_agg(b.octets_in order by slot), array_agg(b.octets_out order by slot),
      array_agg(b.packets_in order by slot), array_agg(b.packets_out order by slot), array_agg(b.errors_in order by slot),
      array_agg(b.errors_out order by slot), array_agg(b.discards_in order by slot), array_agg(b.discards_out order by slot)
    from (select distinct port_id from %I) p cross join (values (60), (300)) r (seconds)
    cross join lateral generate_series(0, 86400 / r.seconds - 1) slot
    left join lateral (
      select sum(s.covered_ms)::integer as covered_ms, sum(s.octets_in)::bigint as octets_in, sum(s.octets_out)::bigint as octets_out,
        sum(s.packets_in)::bigint as packets_in, sum(s.packets_out)::bigint as packets_out, sum(s.errors_in)::bigint as errors_in,
        sum(s.errors_out)::bigint as errors_out, sum(s.discards_in)::bigint as discards_in,
        sum(s.discards_out)::bigint as discards_out
      from %I s where s.port_id = p.port_id and s.minute >= %L::timestamptz + make_interval(secs => slot * r.seconds)
        and s.minute < %L::timestamptz + make_interval(secs => (slot + 1) * r.seconds)) b on true
    group by p.port_id, r.seconds
    on conflict do nothing$sql$, day, part, part, first, first);
  execute format('drop table %I', part);
  return true;
end $$;

create function port_buckets(port integer, since timestamptz, until timestamptz, seconds integer) returns table(at timestamptz, covered_ms integer,
  octets_in bigint, octets_out bigint, packets_in bigint, packets_out bigint, errors_in bigint, errors_out bigint, discards_in bigint, discards_out
  bigint) language sql stable as $$
  select d.day::timestamp at time zone 'UTC' + make_interval(secs => ((u.slot - 1) * port_buckets.seconds)::double precision),
    u.covered_ms, u.octets_in, u.octets_out, u.packets_in, u.packets_out, u.errors_in, u.errors_out, u.discards_in, u.discards_out
  from port_days d
  cross join lateral unnest(d.covered_ms, d.octets_in, d.octets_out, d.packets_in, d.packets_out, d.errors_in, d.errors_out,
    d.discards_in, d.discards_out) with ordinality
    as u (covered_ms, octets_in, octets_out, packets_in, packets_out, errors_in, errors_out, discards_in, discards_out, slot)
  where d.port_id = port and d.seconds = port_buckets.seconds
    and d.day between (since at time zone 'UTC')::date and (until at time zone 'UTC')::date
    and u.covered_ms is not null
    and d.day::timestamp at time zone 'UTC' + make_interval(secs => ((u.slot - 1) * port_buckets.seconds)::double precision) >= since
    and d.day::timestamp at time zone 'UTC' + make_interval(secs => ((u.slot - 1) * port_buckets.seconds)::double precision) < until
  union all
  select date_bin(make_interval(secs => port_buckets.seconds::double precision), s.minute, '2000-01-01T00:00:00Z'),
    sum(s.covered_ms)::integer, sum(s.octets_in)::bigint, sum(s.octets_out)::bigint, sum(s.packets_in)::bigint,
    sum(s.packets_out)::bigint, sum(s.errors_in)::bigint, sum(s.errors_out)::bigint, sum(s.discards_in)::bigint,
    sum(s.discards_out)::bigint
  from port_samples s where s.port_id = port and s.minute >= since and s.minute < until
  group by 1
$$;

create function billed_assignments(service integer, since timestamptz, until timestamptz) returns table(port_id integer, name text, circuit_id text,
  speed_bps bigint, valid tstzrange, interface_id integer, interface_since timestamptz, lag_interface_id integer, is_lag boolean, oper text, bits
  integer, created timestamptz, measured timestamptz) language sql stable security definer set search_path = public, pg_temp as $$
  select p.id, p.name, p.circuit_id, coalesce(p.speed_bps, i.speed_bps), a.valid * tstzrange(since, until), i.id, p.interface_since, i.lag_id,
    coalesce(i.type = 161, false), coalesce(i.oper, 'unknown'), (c.state ->> 'bits')::integer, p.created,
    least(
      (select min(s.minute) from port_samples s where s.port_id = p.id),
      (select d.day::timestamp at time zone 'UTC' + make_interval(secs => 300 * (
          select min(n) - 1 from unnest(d.covered_ms) with ordinality as u (ms, n) where ms is not null))
        from port_days d where d.port_id = p.id and d.seconds = 300 order by d.day limit 1))
  from port_assignments a join ports p on p.id = a.port_id left join interfaces i on i.id = p.interface_id
    left join interface_counters c on c.interface_id = i.id
  where a.service_id = service and a.team_id = current_team_id() and a.valid && tstzrange(since, until)
  order by p.name, p.id, lower(a.valid)
$$;
revoke execute on function billed_assignments from public;
grant execute on function billed_assignments to pharos_tenant;

create table transceivers (
  id integer generated always as identity primary key,
  interface_id integer not null references interfaces on delete cascade,
  vendor text not null default '',
  part text not null default '',
  serial text not null default '',
  type text not null default '',
  wavelength_nm double precision,
  reach_m integer,
  connector text not null default '',
  lanes integer not null default 1,
  has_ddm boolean not null,
  is_present boolean not null default true,
  inserted timestamptz not null default now(),
  seen timestamptz not null default now(),
  warned_day date,
  warnings jsonb not null default '[]',
  has_warning boolean not null default false,
  unique (interface_id, vendor, part, serial)
);
comment on table transceivers is 'pluggable modules; another serial number is another module, with a history of its own';
comment on column transceivers.has_ddm is 'reports light levels (digital diagnostic monitoring)';
comment on column transceivers.is_present is 'in the interface at the last survey';
comment on column transceivers.inserted is 'first survey that found it';
comment on column transceivers.warned_day is 'the last day that the rules of early warning have read';
comment on column transceivers.warnings is 'for each lane, the states of the rules';
comment on column transceivers.has_warning is 'one of the states is raised';
create unique index transceivers_present on transceivers (interface_id) where is_present;
alter table transceivers enable row level security;
create policy tenant on transceivers to pharos_tenant using (current_team_id() is not null and exists (select from interfaces i where i.id =
  transceivers.interface_id));
grant select on transceivers to pharos_tenant;

create view held_ports with (security_barrier) as
  select a.team_id, a.service_id, a.valid, p.id, p.circuit_id, p.name, p.device_id, p.interface_key, p.interface_id, p.media, p.speed_bps,
    p.description, p.panel, p.module, p.position, p.interface_since,
    d.name as device_name, d.location_key, s.seen, s.next_poll, s.lease_until,
    i.admin, i.oper, i.type, i.speed_bps as interface_speed_bps, i.last_change, i.lag_id, c.state as counters,
    coalesce(p.interface_id in (select t.interface_id from transceivers t where t.is_present and t.has_warning), false) as has_optic_warning
  from port_assignments a join ports p on p.id = a.port_id
    left join devices d on d.id = p.device_id
    left join device_states s on s.device_id = p.device_id
    left join interfaces i on i.id = p.interface_id
    left join interface_counters c on c.interface_id = p.interface_id
  where a.team_id = (select current_team_id()) and a.valid @> now();
comment on view held_ports is 'ports that are assigned to the team of the transaction now, with their device, interface, counters and module';
grant select on held_ports to pharos_tenant;

create policy tenant on devices to pharos_tenant using (customer_id = current_team_id() or exists (select from held_ports h where h.device_id =
  devices.id));

create policy tenant on interfaces to pharos_tenant using (exists (select from held_ports h where h.device_id = interfaces.device_id and
  h.interface_key = interfaces.key) or exists (select from held_ports h where h.device_id = interfaces.device_id and h.interface_id =
  interfaces.lag_id) or exists (select from devices d where d.id = interfaces.device_id and d.customer_id = current_team_id()));

create policy tenant on ports to pharos_tenant using (exists (select from held_ports h where h.id = ports.id));

create table gauges (
  id integer generated always as identity primary key,
  device_id integer not null references devices on delete cascade,
  transceiver_id integer references transceivers on delete cascade,
  metric text not null,
  lane smallint not null default 0,
  part text not null default '',
  value real not null,
  at timestamptz not null default now(),
  limits jsonb,
  unique nulls not distinct (device_id, transceiver_id, metric, lane, part)
) with (fillfactor = 70);
comment on table gauges is 'measured on a device or one of its modules; the last value';
comment on column gauges.metric is 'cpu, memory, loss: percent; temperature: degrees Celsius; fan: rpm; power: W; latency: ms; uptime: s; rx_power, tx_power: dBm; bias: mA; voltage: V';
comment on column gauges.lane is 'of a module, from 1; 0: the module or the device itself';
comment on column gauges.part is 'part of the device, such as `CPU 1`; empty for the device';
comment on column gauges.limits is 'alarmLow, warnLow, warnHigh and alarmHigh, as the module states them';
create index gauges_transceiver on gauges (transceiver_id) where transceiver_id is not null;
alter table gauges enable row level security;
create policy tenant on gauges to pharos_tenant using (current_team_id() is not null and case
    when transceiver_id is null then exists (select from devices d where d.id = gauges.device_id)
    else exists (select from transceivers t where t.id = gauges.transceiver_id) end);
grant select on gauges to pharos_tenant;

create table gauge_days (
  gauge_id integer not null references gauges on delete cascade,
  day date not null,
  slots real[],
  median real,
  least real,
  greatest real,
  samples integer,
  primary key (gauge_id, day)
) with (fillfactor = 50);
comment on table gauge_days is 'a day (UTC) of a gauge; today''s row is updated in place';
comment on column gauge_days.slots is 'the value in each 5 minutes, 288 of them; null after 90 days';
comment on column gauge_days.median is 'as the three others: null until the day is over; of values that are light, not darkness';
comment on column gauge_days.samples is 'number of values';
create index gauge_days_day on gauge_days (day);
alter table gauge_days enable row level security;
create policy tenant on gauge_days to pharos_tenant using (current_team_id() is not null and exists (select from gauges g where g.id =
  gauge_days.gauge_id));
grant select on gauge_days to pharos_tenant;

create table interface_log (
  id bigint generated always as identity primary key,
  interface_id integer not null references interfaces on delete cascade,
  at timestamptz not null default now(),
  kind text not null check (kind in ('oper', 'admin', 'speed', 'module')),
  before text not null,
  after text not null
);
comment on table interface_log is 'changes of interfaces that polls and surveys have found';
create index interface_log_at on interface_log (interface_id, at desc);
alter table interface_log enable row level security;
create policy tenant on interface_log to pharos_tenant using (current_team_id() is not null and exists (select from interfaces i where i.id =
  interface_log.interface_id));
grant select on interface_log to pharos_tenant;

create function billed_states(service integer, since timestamptz, until timestamptz) returns table(interface_id integer, at timestamptz, before text,
  after text) language sql stable security definer set search_path = public, pg_temp as $$
  select b.interface_id, l.at, l.before, l.after
  from (select distinct a.interface_id, coalesce(a.interface_since, '-infinity') as interface_since from billed_assignments(service, since, until) a) b
  cross join lateral (
    (select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= b.interface_since and o.at < since order by o.at desc limit 1)
    union all
    select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= greatest(b.interface_since, since) and o.at < until
    union all
    (select o.at, o.before, o.after from interface_log o
      where o.interface_id = b.interface_id and o.kind = 'oper' and o.at >= greatest(b.interface_since, until) order by o.at limit 1)) l
  order by l.at
$$;
revoke execute on function billed_states from public;
grant execute on function billed_states to pharos_tenant;

create table billing_periods (
  id integer generated always as identity primary key,
  team_id integer not null,
  service_id integer not null,
  service_name text not null,
  billing_ref text not null,
  month text not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
  timezone text not null,
  place integer not null,
  bill jsonb not null,
  closed timestamptz not null default now(),
  corrects integer references billing_periods,
  reason text,
  ends timestamptz,
  unique (service_id, month, place),
  constraint billing_periods_reason check ((corrects is null) = (reason is null))
);
comment on table billing_periods is 'bills of months that are over: without foreign keys, so that they outlive services and ports';
comment on column billing_periods.place is 'of the bill among those of the service and month, from 0';
comment on column billing_periods.bill is 'as the API returns it';
comment on column billing_periods.corrects is 'the bill that this one replaces';
comment on column billing_periods.reason is 'why it was corrected';
comment on column billing_periods.ends is 'end of the month; null: that of the calendar month in its time zone';
create index billing_periods_team on billing_periods (team_id, month);
create unique index billing_periods_corrects on billing_periods (corrects) where corrects is not null;
create index billing_periods_month on billing_periods (month, id);
alter table billing_periods enable row level security;
create policy tenant on billing_periods to pharos_tenant using (team_id = current_team_id());
grant select on billing_periods to pharos_tenant;

create function refuse_bill_change() returns trigger language plpgsql as $$
begin
  raise exception 'the bill of a past month is never changed';
end $$;
create trigger billing_periods_immutable before delete or update on billing_periods for each row execute function refuse_bill_change();

create function billed_until(service integer) returns timestamptz language sql stable as $$
  select max(coalesce(b.ends, ((b.month || '-01')::timestamp + interval '1 month') at time zone b.timezone))
  from billing_periods b where b.service_id = service or b.service_id = (select s.pool_id from services s where s.id = service)
$$;

create function unbilled_time(service integer, valid tstzrange) returns tstzrange language sql stable as $$
  select u.time from (
    select valid * tstzrange(least(greatest(billed_until(service), now() - interval '13 months'), now()), now()) as time) u
  where upper(u.time) - lower(u.time) >= interval '5 minutes'
$$;

create table cross_connects (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  service_id integer not null,
  port_id integer references ports on delete set null,
  circuit_id text not null unique,
  name text not null,
  status text not null default 'reserved' check (status in ('reserved', 'awaiting_loa', 'awaiting_connect', 'connected', 'awaiting_cease', 'ceased',
    'broken')),
  location_key text references locations,
  panel text not null default '',
  module text not null default '',
  position text not null default '',
  z_name text not null default '',
  z_circuit_id text not null default '',
  z_panel text not null default '',
  z_module text not null default '',
  z_position text not null default '',
  media text not null default '',
  connector text not null default '',
  provider_ref text not null default '',
  chargeable boolean not null default false,
  requested timestamptz not null default now(),
  changed timestamptz not null default now(),
  connected timestamptz,
  ceased timestamptz,
  created timestamptz not null default now(),
  foreign key (service_id, team_id) references services(id, team_id) on delete cascade
);
comment on column cross_connects.panel is 'panel, module and position of the provider, which is side A; z_*: of the other side';
comment on column cross_connects.provider_ref is 'number of the order at the data center';
comment on column cross_connects.changed is 'last change of the status';
create index cross_connects_team on cross_connects (team_id, id);
create index cross_connects_port on cross_connects (port_id) where port_id is not null;
create index cross_connects_service on cross_connects (service_id);
alter table cross_connects enable row level security;
create policy tenant on cross_connects to pharos_tenant using (team_id = current_team_id());
grant select on cross_connects to pharos_tenant;

create table cross_connect_log (
  id integer generated always as identity primary key,
  cross_connect_id integer not null references cross_connects on delete cascade,
  team_id integer not null,
  at timestamptz not null default now(),
  before text not null,
  after text not null,
  note text not null default '',
  actor text not null
);
comment on table cross_connect_log is 'changes of the status; `actor`: customer or provider';
create index cross_connect_log_of on cross_connect_log (cross_connect_id, id desc);
alter table cross_connect_log enable row level security;
create policy tenant on cross_connect_log to pharos_tenant using (team_id = current_team_id());
grant select on cross_connect_log to pharos_tenant;

create table inventory_imports (
  source text primary key check (source = 'netbox'),
  attempted timestamptz not null,
  succeeded timestamptz,
  error text
);
comment on table inventory_imports is 'last run of each import; no row before the first one';
comment on column inventory_imports.error is 'of the last run; null if it succeeded';

create table former_service_terms (
  service_id integer not null references services on delete cascade,
  valid tstzrange not null check (not isempty(valid) and not upper_inf(valid)),
  commit_bps bigint,
  method text not null,
  direction text not null,
  scope text not null,
  timezone text not null,
  commit_scope text not null default 'service',
  day integer not null default 1,
  included_octets bigint,
  prices jsonb,
  pool_id integer,
  constraint former_service_terms_once exclude using gist (int4range(service_id, service_id, '[]') with &&, valid with &&)
);
comment on table former_service_terms is 'billing terms that a service had; the first ones hold from the beginning';
create index former_service_terms_service on former_service_terms (service_id);
alter table former_service_terms enable row level security;
create policy tenant on former_service_terms to pharos_tenant using (exists (select from services s where s.id = former_service_terms.service_id and
  s.team_id = current_team_id()));
grant select on former_service_terms to pharos_tenant;

create table former_port_facts (
  port_id integer not null references ports on delete cascade,
  valid tstzrange not null check (not isempty(valid) and not upper_inf(valid)),
  interface_id integer not null,
  lag_port_id integer,
  speed_bps bigint,
  bits integer,
  constraint former_port_facts_once exclude using gist (int4range(port_id, port_id, '[]') with &&, valid with &&)
);
comment on table former_port_facts is 'interfaces and LAGs that a port had; the first ones hold from the beginning';
comment on column former_port_facts.lag_port_id is 'the port of the LAG of which it was a member';
comment on column former_port_facts.bits is 'size of the counters';
create index former_port_facts_port on former_port_facts (port_id);
alter table former_port_facts enable row level security;

create function port_facts() returns table(port_id integer, valid tstzrange, interface_id integer, lag_port_id integer, speed_bps bigint, bits
  integer) language sql stable as $$
  select f.port_id, f.valid, f.interface_id, f.lag_port_id, f.speed_bps, f.bits from former_port_facts f
  union all
  select p.id, tstzrange((select max(upper(f.valid)) from former_port_facts f where f.port_id = p.id), null), p.interface_id, l.id,
    coalesce(p.speed_bps, i.speed_bps), (c.state ->> 'bits')::integer
  from ports p left join interfaces i on i.id = p.interface_id left join interfaces g on g.id = i.lag_id and g.type = 161
    left join ports l on l.interface_id = g.id left join interface_counters c on c.interface_id = i.id
$$;

create function billed_facts(service integer, since timestamptz, until timestamptz) returns table(port_id integer, valid tstzrange, lag_port_id
  integer, speed_bps bigint, bits integer) language sql stable security definer set search_path = public, pg_temp as $$
  select f.port_id, f.valid * a.valid * tstzrange(since, until), f.lag_port_id, f.speed_bps, f.bits
  from port_assignments a join port_facts() f on f.port_id = a.port_id and f.valid && (a.valid * tstzrange(since, until))
  where a.service_id = service and a.team_id = current_team_id() and a.valid && tstzrange(since, until)
  order by f.port_id, lower(f.valid * a.valid)
$$;
revoke execute on function billed_facts from public;
grant execute on function billed_facts to pharos_tenant;

create table billing_samples (
  team_id integer not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  gzip bytea not null,
  primary key (team_id, sha256)
);
alter table billing_samples alter column gzip set storage external;
comment on table billing_samples is 'files of the samples of closed bills: without foreign keys, so that they outlive services and ports';
comment on column billing_samples.sha256 is 'of the file, as bills name it';
alter table billing_samples enable row level security;
create policy tenant on billing_samples to pharos_tenant using (team_id = current_team_id());
grant select on billing_samples to pharos_tenant;

create trigger billing_samples_immutable before delete or update on billing_samples for each row execute function refuse_bill_change();

create table bgp_sessions (
  id integer generated always as identity primary key,
  device_id integer not null references devices on delete cascade,
  instance text not null default '',
  peer inet not null,
  peer_asn bigint,
  state text not null,
  established timestamptz,
  prefixes jsonb not null default '[]',
  reset timestamptz,
  reset_code smallint,
  reset_subcode smallint,
  reset_text text not null default '',
  port_id integer references ports on delete set null,
  seen timestamptz not null default now(),
  known_state text,
  known_at timestamptz,
  reset_is_exact boolean not null default true,
  unique (device_id, instance, peer)
) with (fillfactor = 70);
comment on table bgp_sessions is 'sessions that a device has listed within a day';
comment on column bgp_sessions.instance is 'routing instance, as the device numbers it; empty for the only one';
comment on column bgp_sessions.established is 'since when it is established, or when it was last; null if never';
comment on column bgp_sessions.prefixes is 'by family: received and limit, which may be null';
comment on column bgp_sessions.reset is 'when it was last found not to be established any more; with the code, subcode and text of the NOTIFICATION';
comment on column bgp_sessions.port_id is 'the sold port of the neighbor; null if there is none';
comment on column bgp_sessions.known_state is 'the last state that was not unknown, while it is unknown now; with its time in known_at';
comment on column bgp_sessions.reset_is_exact is 'false: reset is the time at which the session was last known to be established';
create index bgp_sessions_port on bgp_sessions (port_id) where port_id is not null;
alter table bgp_sessions enable row level security;
create policy tenant on bgp_sessions to pharos_tenant using (current_team_id() is not null and exists (select from ports p where p.id =
  bgp_sessions.port_id));
grant select on bgp_sessions to pharos_tenant;

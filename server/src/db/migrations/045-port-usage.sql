-- Usage of ports: what was counted in each minute, and later in days. A poll writes the state of the counters and the minutes that are over
-- in one transaction, so that no octet is lost or counted twice.

create table interface_counters (
  interface_id integer primary key references interfaces on delete cascade,
  state jsonb not null,
  open jsonb,
  mac text,
  type integer not null,
  dropped text,
  dropped_at timestamptz
) with (fillfactor = 50);
comment on table interface_counters is 'the last reading of the counters of each interface that is a port';
comment on column interface_counters.state is 'the reading; counters are texts, since they exceed 2^53';
comment on column interface_counters.open is 'the minute that is not over yet';
comment on column interface_counters.mac is 'of the interface at the reading, as the type: another one means another interface';
comment on column interface_counters.dropped is 'why the last increase that was dropped is unknown';

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
) partition by range (minute);
create table port_samples_default partition of port_samples default;
comment on table port_samples is 'what a port counted in each minute of the last two days; in and out as the device sees them';
comment on column port_samples.covered_ms is 'the part of the minute that was measured';
comment on column port_samples.octets_in is 'null, as the others: the device has no such counter';

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

/* Creates the partition of a day (UTC). Rows of the default partition move to it. */
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

/* Days that are over become rows of port_days, and their partition is removed, in one transaction. Returns whether there was one. */
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

/*
 * What a port counted from `since` until `until`, in buckets of a minute (`seconds` 60, the last 30 days) or five. Buckets without
 * a measurement are left out.
 */
create function port_buckets(port integer, since timestamptz, until timestamptz, seconds integer)
returns table (
  at timestamptz, covered_ms integer, octets_in bigint, octets_out bigint, packets_in bigint, packets_out bigint,
  errors_in bigint, errors_out bigint, discards_in bigint, discards_out bigint)
language sql stable as $$
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

alter table interface_counters enable row level security;
alter table port_samples enable row level security;
alter table port_days enable row level security;

create policy tenant on interface_counters to pharos_tenant using (exists (
  select from ports p join port_assignments a on a.port_id = p.id
  where p.interface_id = interface_counters.interface_id and a.team_id = current_team_id() and a.valid @> now()));
create policy tenant on port_samples to pharos_tenant using (exists (
  select from port_assignments a
  where a.port_id = port_samples.port_id and a.team_id = current_team_id() and a.valid @> port_samples.minute));
create policy tenant on port_days to pharos_tenant using (exists (
  select from port_assignments a
  where a.port_id = port_days.port_id and a.team_id = current_team_id()
    and a.valid && tstzrange(port_days.day::timestamp at time zone 'UTC', (port_days.day + 1)::timestamp at time zone 'UTC')));

grant select on interface_counters, port_samples, port_days to pharos_tenant;

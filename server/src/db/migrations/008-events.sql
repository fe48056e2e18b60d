-- Deliveries of detectors, the events that they report, and the part of each team in them.

set local check_function_bodies = off;

create function day_bucket(at timestamptz) returns integer language sql immutable parallel safe
  as $$ select coalesce((at at time zone 'UTC')::date - date '1970-01-01', 2147483647) $$;

-- 16 buckets for each power of two, with integers only, so that rate_bucket(x) >= b exactly if x >= bucket_rate(b).
create function rate_bucket(rate bigint) returns integer language sql immutable strict parallel safe
  as $$ select case when rate < 16 then rate::integer
    else (61 - position(B'1' in rate::bit(64))) * 16
      + ((rate >> (60 - position(B'1' in rate::bit(64)))) & 15)::integer end $$;

create function bucket_rate(bucket integer) returns bigint language sql immutable strict parallel safe
  as $$ select case when bucket < 16 then bucket::bigint
    else (16 + bucket % 16)::bigint << (bucket / 16 - 1) end $$;

-- Arrays, because a VALUES list would be compiled again for each event, which takes 200 us.
create function event_buckets(start_at timestamptz, end_at timestamptz, bps bigint, pps bigint, event_facet integer) returns table(facet integer,
  measure text, bucket integer) language sql immutable parallel safe as $$ select * from unnest(
    array[event_facet, event_facet, event_facet, event_facet, event_facet, 0, 0, 0, 0, 0, 0, 0],
    array['all', 'start', 'start_block', 'end', 'end_block', 'all', 'start', 'start_block', 'end', 'end_block', 'bps', 'pps'],
    array[0, day_bucket(start_at), day_bucket(start_at) / 64, day_bucket(end_at), day_bucket(end_at) / 64,
      0, day_bucket(start_at), day_bucket(start_at) / 64, day_bucket(end_at), day_bucket(end_at) / 64,
      rate_bucket(bps), rate_bucket(pps)]) $$;

create function event_hours(start_at timestamptz, end_at timestamptz, bps bigint, pps bigint) returns table(minutes smallint, at timestamptz, started
  integer, ended integer, max_bps bigint, max_pps bigint) language sql immutable parallel safe as $$
    with parts as (
      select length, floor(extract(epoch from start_at) / (length * 60))::bigint as first,
        floor(extract(epoch from end_at) / (length * 60))::bigint as last,
        coalesce(end_at - start_at <= longest, false) as is_kept
      from (values (15::smallint, interval '24 hours'), (60, '24 hours'), (360, '720 hours')) l (length, longest))
    select length, to_timestamp(n * length * 60), (n = first)::integer, (n is not distinct from last)::integer,
      case when last is not null then bps end, case when last is not null then pps end
    from parts cross join lateral (
      select generate_series(first, last) as n where is_kept
      union select first where not is_kept
      union select last where not is_kept and last is not null) p
  $$;

create table sources (
  key text primary key check (key ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  kind text not null,
  name text not null,
  secret_mac bytea not null,
  settings jsonb not null default '{}',
  created timestamptz not null default now()
);

create table deliveries (
  id bigint generated always as identity,
  source_key text not null references sources,
  delivery_id text not null,
  received timestamptz not null default now(),
  content_type text,
  body bytea not null,
  state text not null default 'new' check (state in ('new', 'done', 'partial', 'failed')),
  error text,
  processed timestamptz,
  notes jsonb not null default '[]',
  event_count integer,
  event_ids text[] not null default '{}',
  primary key (id, received),
  unique (source_key, delivery_id, received)
) partition by range(received);
comment on column deliveries.error is 'the first error as text; null without one';
comment on column deliveries.notes is 'JSON array of {severity, code, place, attrs} with codes from contract/src/delivery-note.ts, at most 100';
comment on column deliveries.event_count is 'events that the delivery created or updated; null before it is processed, and in rows from before the column existed';
comment on column deliveries.event_ids is 'their ids, at most 1000';
create index deliveries_new on deliveries (id) where state = 'new';
create index deliveries_source on deliveries (source_key, received);
create index deliveries_failed on deliveries (source_key, received) where state in ('partial', 'failed');

create table deliveries_default partition of deliveries default;

-- A delivery id is unique for its source in all months, which a partitioned table cannot ensure.
create table delivery_ids (
  source_key text not null references sources,
  delivery_id text not null,
  received timestamptz not null default now(),
  body_sha256 bytea,
  primary key (source_key, delivery_id)
);
comment on column delivery_ids.body_sha256 is 'digest of the body, so that another body under the same id is rejected; null for deliveries from before this column';

create table events (
  id text collate "C" primary key,
  source_key text not null,
  source_event_id text not null,
  flags text[] not null,
  status text[] not null,
  affected_network cidr,
  source_timezone text not null,
  start_at timestamptz not null,
  end_at timestamptz,
  source_resource_id text not null,
  source_location_id text not null,
  source_country text not null,
  source_location text not null,
  classification_key text not null,
  description text not null,
  affected_bps bigint not null,
  affected_pps bigint not null,
  parsed_data jsonb not null,
  has_attachment boolean not null default false,
  merge_state jsonb,
  updated timestamptz not null default now(),
  source_delivery bigint,
  source_received timestamptz,
  detected timestamptz default now(),
  unique (source_key, source_event_id)
);
comment on column events.id is 'follows from source_key and source_event_id';
comment on column events.affected_bps is 'bits per second, the peak so far';
comment on column events.affected_pps is 'packets per second, the peak so far';
comment on column events.merge_state is 'what the other columns do not say and merging the next observation needs; null: the next observation starts anew';
comment on column events.source_delivery is 'deliveries.id with the latest message of the detector; it contains what parsed_data.source shows';
comment on column events.source_received is 'deliveries.received of it, which selects the partition';
comment on column events.detected is 'when its first report was processed; null if it is not known';
create index events_network on events (affected_network, id);
alter table events enable row level security;
grant select on events to pharos_tenant;

-- The networks of the few events with several, affected_network included.
create table event_networks (
  network cidr not null,
  event_id text collate "C" not null references events on delete cascade,
  primary key (network, event_id)
);
create index event_networks_event on event_networks (event_id);
create index event_networks_wide on event_networks using gist (network inet_ops) where masklen(network::inet) < case family(network::inet)
    when 4 then 32
    else 128 end;

create table event_relationships (
  id bigint generated always as identity primary key,
  event_id text collate "C" not null references events on delete cascade,
  team_id integer not null references teams on delete cascade,
  match_resource text not null check (match_resource in ('announcement', 'prefix', 'service', 'port', 'asn')),
  match_resource_id integer not null,
  match_resource_name text not null,
  match_resource_link text not null,
  match_type text not null check (match_type in ('exact', 'covers', 'covered_by', 'origin_asn', 'source_resource')),
  match_value text not null,
  constraint event_relationships_event_id_team_id_match_resource_match_r_key unique (event_id, team_id, match_resource, match_resource_id, match_type)
);
create index event_relationships_team on event_relationships (team_id);
create index event_relationships_resource on event_relationships (match_resource, match_resource_id, event_id);
alter table event_relationships enable row level security;
create policy tenant on event_relationships to pharos_tenant using (team_id = current_team_id());
grant select on event_relationships to pharos_tenant;

-- The read model of the list of events: one row per event and team, with the record as the API returns it. Written in the transaction that
-- writes the event, so that a page and its count are one snapshot. No reference to events: the check takes 16 us a row, and there is one
-- writer. Rows are deleted before their event.
create table team_events (
  team_id integer not null,
  event_id text collate "C" not null,
  start_at timestamptz not null,
  end_at timestamptz,
  span smallint not null generated always as (case
        when end_at is null then 99
        else ceil(ln(greatest(extract(epoch from end_at - start_at)::double precision, 1)) / ln(2)) end) stored,
  affected_bps bigint not null,
  affected_pps bigint not null,
  flags integer not null,
  affected_network cidr,
  classification_key text collate "C" not null,
  description text not null,
  record text not null,
  relationships text not null,
  parsed_data text,
  facet integer not null,
  incident text collate "C",
  primary key (team_id, event_id)
);
comment on column team_events.team_id is '0: the event concerns no team';
comment on column team_events.span is 'it lasted at most 2^span seconds; 99 while it is not over';
comment on column team_events.flags is 'a bit for each flag, in the order of the contract';
comment on column team_events.description is 'in lower case, for searching; at most 500 characters, or the index would not take it';
comment on column team_events.record is 'JSON object without its closing brace, for the list and for the detail';
comment on column team_events.relationships is 'JSON array';
comment on column team_events.parsed_data is 'JSON, the team''s part; null: the team holds all networks of the event, and events.parsed_data is shown';
comment on column team_events.facet is 'team_event_facets.id';
comment on column team_events.incident is 'the event that its incident has its id of; null: the event itself';
create index team_events_facet on team_events (team_id, facet, start_at, end_at, affected_bps, affected_pps, event_id);
create index team_events_start on team_events (team_id, start_at, end_at, affected_bps, affected_pps, event_id) include (facet, affected_network,
  classification_key, description);
create index team_events_end on team_events (team_id, end_at, event_id) include (facet);
create index team_events_bps on team_events (team_id, affected_bps, event_id) include (facet);
create index team_events_pps on team_events (team_id, affected_pps, event_id) include (facet);
create index team_events_class on team_events (team_id, classification_key, event_id) include (facet);
create index team_events_span on team_events (team_id, span, start_at, end_at, event_id);
create index team_events_network on team_events (team_id, affected_network) include (start_at, end_at, affected_bps, affected_pps, event_id,
  classification_key, facet);
create index team_events_incident on team_events (team_id, incident, start_at, event_id) where incident is not null;
create index team_events_wide on team_events using gist (affected_network inet_ops) where masklen(affected_network::inet) < case
      family(affected_network::inet)
    when 4 then 32
    else 128 end;
alter table team_events enable row level security;
create policy tenant on team_events to pharos_tenant using (team_id = current_team_id());
grant select on team_events to pharos_tenant;

create policy tenant on events to pharos_tenant using (exists (select from team_events te where te.team_id = current_team_id() and te.event_id =
  events.id and te.parsed_data is null));

create table team_event_facets (
  id integer generated always as identity,
  team_id integer not null,
  flags integer not null,
  status integer not null,
  classification_key text not null,
  source_key text not null,
  description text,
  primary key (team_id, id),
  constraint team_event_facets_team_id_flags_status_classification_key_s_key unique nulls not distinct (team_id, flags, status, classification_key,
    source_key, description)
);
comment on column team_event_facets.flags is 'a bit for each flag, in the order of the contract';
comment on column team_event_facets.status is 'a bit for each status, in the order of the contract';
comment on column team_event_facets.description is 'in lower case, U+0001 in place of the affected network; null: varies, see team_events.description';
alter table team_event_facets enable row level security;
create policy tenant on team_event_facets to pharos_tenant using (team_id = current_team_id());
grant select on team_event_facets to pharos_tenant;

-- Numbers of events of a team by flags and bucket: the exact count of a page without counting, and the position of a deep offset without
-- walking to it. Updated by the trigger count_team_events().
create table team_event_counts (
  team_id integer not null,
  facet integer not null,
  measure text collate "C" not null check (measure in ('all', 'start', 'start_block', 'end', 'end_block', 'bps', 'pps')),
  bucket integer not null,
  events bigint not null,
  primary key (team_id, facet, measure, bucket)
);
comment on column team_event_counts.facet is 'team_event_facets.id; 0: of all facets together';
comment on column team_event_counts.bucket is 'start, end: days since 1970 in UTC (2147483647: not ended); start_block, end_block: blocks of 64 days; bps, pps: rate_bucket(); all: 0';
alter table team_event_counts enable row level security;
create policy tenant on team_event_counts to pharos_tenant using (team_id = current_team_id());
grant select on team_event_counts to pharos_tenant;

create table attachments (
  id integer generated always as identity primary key,
  customer_id integer references teams on delete cascade,
  subject_kind text not null check (subject_kind in ('device', 'cross_connect', 'event')),
  subject_id text not null,
  purpose text not null default '' check (purpose in ('', 'loa')),
  filename text not null,
  media_type text not null,
  kind text not null check (kind in ('pcap', 'json', 'csv', 'pdf', 'image', 'other')),
  sha256 bytea not null,
  description text not null default '',
  content bytea,
  size integer,
  created timestamptz not null default now(),
  created_by text not null
);
comment on column attachments.customer_id is 'the team that sees it; null: every team that sees the subject';
comment on column attachments.purpose is 'loa: letter of authorization (LOA/CFA) of a cross connect';
comment on column attachments.media_type is 'from the content; application/octet-stream unless it is known to be harmless';
comment on column attachments.content is 'null: deleted after its time';
comment on column attachments.created_by is 'actor of the audit log';
create index attachments_subject on attachments (subject_kind, subject_id, id);
create unique index attachments_event_file on attachments (subject_id, sha256, filename, coalesce(customer_id, 0)) where subject_kind = 'event';
create index attachments_event_age on attachments (created) where subject_kind = 'event';
alter table attachments enable row level security;
create policy tenant on attachments to pharos_tenant using (customer_id = current_team_id() or (customer_id is null and case subject_kind
    when 'device' then exists (select from devices d where d.id::text = attachments.subject_id)
    when 'cross_connect' then exists (select from cross_connects c where c.id::text = attachments.subject_id)
    when 'event' then exists (select from team_events t where t.team_id = current_team_id() and t.event_id = attachments.subject_id and t.parsed_data
      is null)
    else false end));
grant select, insert on attachments to pharos_tenant;

-- Decisions of a team about an event: deliveries do not change them, and they stay while the event does not concern the team.
create table event_reviews (
  team_id integer not null references teams on delete cascade,
  event_id text not null references events on delete cascade,
  verdict text check (verdict in ('attack', 'false_positive')),
  acknowledged timestamptz,
  acknowledged_by text,
  by_staff boolean not null default false,
  version integer not null default 1,
  primary key (event_id, team_id)
);
comment on column event_reviews.verdict is 'null: none, that of the detector is shown';
comment on column event_reviews.acknowledged_by is 'actor of the audit log';
comment on column event_reviews.by_staff is 'acknowledged by a person of the provider, as whom teams are not shown who';
alter table event_reviews enable row level security;
create policy tenant on event_reviews to public using (team_id = current_team_id());
grant select on event_reviews to pharos_tenant;

create table event_comments (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  event_id text not null references events on delete cascade,
  text text not null,
  author text not null,
  by_staff boolean not null default false,
  created timestamptz not null default now()
);
comment on column event_comments.author is 'actor of the audit log';
create index event_comments_event on event_comments (event_id, team_id, id);
alter table event_comments enable row level security;
create policy tenant on event_comments to public using (team_id = current_team_id());
grant select on event_comments to pharos_tenant;

-- Events whose flows were saved as a file, or that had none. Each is retried until it succeeds once.
create table event_flow_files (
  team_id integer not null references teams on delete cascade,
  event_id text not null references events on delete cascade,
  saved timestamptz not null default now(),
  primary key (event_id, team_id)
);
alter table event_flow_files enable row level security;
create policy tenant on event_flow_files to public using (team_id = current_team_id());
grant select on event_flow_files to pharos_tenant;

create table event_marks (
  team_id integer not null references teams on delete cascade,
  event_id text not null references events on delete cascade,
  marks jsonb not null default '{}',
  effect jsonb,
  primary key (event_id, team_id)
);
comment on column event_marks.marks is 'by the name of a status or flag of the contract: since when; no delivery changes it';
comment on column event_marks.effect is 'part of the attack that rules drop in the last minute: share_bytes, share_packets and source; null if it was never measured';
create index event_marks_mitigated on event_marks (team_id, event_id) where marks ? 'MITIGATION_ACTIVE';
create index event_marks_blackholed on event_marks (team_id, event_id) where marks ? 'BLACKHOLED';
alter table event_marks enable row level security;
create policy tenant on event_marks to public using (team_id = current_team_id());
grant select on event_marks to pharos_tenant;

create table team_event_hours (
  team_id integer not null,
  minutes smallint not null check (minutes = 15 or minutes = 60 or minutes = 360),
  at timestamptz not null,
  classification_key text collate "C" not null,
  started integer not null,
  ended integer not null,
  max_bps bigint,
  max_pps bigint,
  primary key (team_id, minutes, at, classification_key) include (started, ended, max_bps, max_pps)
);
comment on table team_event_hours is 'written by analysis/event-rollup.store.ts';
comment on column team_event_hours.minutes is 'length; quarters are for time zones whose hours begin at a quarter of an hour of UTC';
comment on column team_event_hours.at is 'when it begins';
comment on column team_event_hours.max_bps is 'of events that have ended and overlap it; null: none. Events of more than a day, of blocks 30 days, are only in the rows in which they started and ended';
alter table team_event_hours enable row level security;
create policy tenant on team_event_hours to pharos_tenant using (team_id = current_team_id());
grant select on team_event_hours to pharos_tenant;

create table as_names (
  asn bigint primary key check (asn between 1 and 4294967295),
  name text not null
);
comment on table as_names is 'from flow_address_files, written by the collector that has read them; none are shipped';
alter table as_names enable row level security;

create table incident_reports (
  team_id integer not null references teams on delete cascade,
  incident_id text collate "C" not null,
  start_at timestamptz not null,
  end_at timestamptz,
  affected_bps bigint not null,
  affected_pps bigint not null,
  event_count integer not null,
  sources text[] not null,
  reported timestamptz not null default now(),
  primary key (team_id, incident_id)
);
comment on table incident_reports is 'incidents that messages have reported, as the last one of each did';
create index incident_reports_age on incident_reports (reported);
alter table incident_reports enable row level security;
create policy tenant on incident_reports to pharos_tenant using (team_id = current_team_id());

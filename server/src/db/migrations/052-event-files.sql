-- Files, review and rates of security events.

-- The detector's own message is in the delivery. Events from before contain it in parsed_data until another message arrives.
alter table events add column source_delivery bigint, add column source_received timestamptz;
comment on column events.source_delivery is 'deliveries.id with the latest message of the detector; it contains what parsed_data.source shows';
comment on column events.source_received is 'deliveries.received of it, which selects the partition';

-- What a team has decided about an event: no delivery changes it, and it is kept while the event does not concern the team.
create table event_reviews (
  team_id integer not null references teams(id) on delete cascade,
  event_id text not null references events(id) on delete cascade,
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
create policy tenant on event_reviews using (team_id = current_team_id());
grant select on event_reviews to pharos_tenant;

create table event_comments (
  id integer primary key generated always as identity,
  team_id integer not null references teams(id) on delete cascade,
  event_id text not null references events(id) on delete cascade,
  text text not null,
  author text not null,
  by_staff boolean not null default false,
  created timestamptz not null default now()
);
comment on column event_comments.author is 'actor of the audit log';
create index event_comments_event on event_comments (event_id, team_id, id);
alter table event_comments enable row level security;
create policy tenant on event_comments using (team_id = current_team_id());
grant select on event_comments to pharos_tenant;

-- The content of a file of an event is deleted after 90 days; its name, size and hash remain.
alter table attachments alter column size drop expression, alter column content drop not null;
comment on column attachments.content is 'null: deleted after its time';
create unique index attachments_event_file on attachments (subject_id, sha256, filename, coalesce(customer_id, 0))
  where subject_kind = 'event';
create index attachments_event_age on attachments (created) where subject_kind = 'event';
-- A team that holds a part of the event gets a part of a capture, which the server makes: no row shows it.
alter policy tenant on attachments using (
  customer_id = current_team_id() or (customer_id is null and case subject_kind
    when 'device' then exists (select from devices d where d.id::text = attachments.subject_id)
    when 'cross_connect' then exists (select from cross_connects c where c.id::text = attachments.subject_id)
    when 'event' then exists (select from team_events t
      where t.team_id = current_team_id() and t.event_id = attachments.subject_id and t.parsed_data is null)
    else false
  end)
);

-- Events of which the flows were saved as a file, or of which there were none: each is tried until it succeeds once.
create table event_flow_files (
  team_id integer not null references teams(id) on delete cascade,
  event_id text not null references events(id) on delete cascade,
  saved timestamptz not null default now(),
  primary key (event_id, team_id)
);
alter table event_flow_files enable row level security;
create policy tenant on event_flow_files using (team_id = current_team_id());
grant select on event_flow_files to pharos_tenant;

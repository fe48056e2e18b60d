-- Changes of any area that wait for staff.

set local check_function_bodies = off;

create table approvals (
  id integer generated always as identity primary key,
  area text not null check (area in ('routes', 'dns', 'shield', 'platform')),
  kind text not null,
  region_id integer references regions,
  zone_id integer references dns_zones on delete cascade,
  list_id integer references shield_lists on delete cascade,
  team_id integer references teams on delete cascade,
  scrubber text,
  findings jsonb not null check (jsonb_array_length(findings) > 0),
  items jsonb not null default '[]',
  item_count integer not null check (item_count >= 0),
  evidence text not null,
  context jsonb not null default '[]',
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'closed')),
  created timestamptz not null default now(),
  decided timestamptz,
  decided_by text,
  note text,
  valid_until timestamptz,
  replaces integer references approvals on delete set null,
  alert_due timestamptz not null default now(),
  alerted timestamptz,
  alerted_items integer,
  constraint approvals_subject check (case area
        when 'routes' then kind = 'changes' and region_id is not null and num_nonnulls(zone_id, list_id, team_id, scrubber) = 0
        when 'dns' then kind in ('publish', 'catalog', 'shrink') and (kind = 'catalog') = (zone_id is null) and num_nonnulls(region_id, list_id,
          team_id, scrubber) = 0
        when 'shield' then num_nonnulls(region_id, zone_id) = 0
        else kind = 'import' and num_nonnulls(region_id, zone_id, list_id, team_id, scrubber) = 0 end),
  constraint approvals_decided check ((state = 'open') = (decided is null))
);
comment on table approvals is 'changes that wait for staff, and their decisions; an approval never changes, and a plan with more is another one';
comment on column approvals.kind is 'changes, publish, catalog, shrink, import, or the reason of a change of shield rules';
comment on column approvals.findings is 'reasons with their attributes, the gravest first';
comment on column approvals.items is 'changes: change, value, router, from, to; of routes all, otherwise the first 1000';
comment on column approvals.evidence is 'digest of everything that a decision covers, also of what is not stored in items';
comment on column approvals.context is 'routes without a row, as the routers had them when it was opened: router, route';
comment on column approvals.decided is 'when it was decided, or closed since it was replaced or nothing of it is planned';
comment on column approvals.decided_by is 'actor; null while it is open, and if it was closed without a decision';
comment on column approvals.valid_until is 'when the decision ends; null: no end';
comment on column approvals.replaces is 'the approval that was closed because its plan has changed';
comment on column approvals.alert_due is 'when staff get the next mail about it, while it is open';
comment on column approvals.alerted is 'when staff last got a mail about it, or about the approval that it replaced';
comment on column approvals.alerted_items is 'how many items that mail was about';
create unique index approvals_open on approvals (area, kind, region_id, zone_id, list_id, scrubber) nulls not distinct where state = 'open';
create index approvals_decided_evidence on approvals (area, evidence) where state in ('approved', 'rejected');
create index approvals_alert_due on approvals (alert_due) where state = 'open';
create index approvals_region on approvals (region_id) where region_id is not null;
create index approvals_zone on approvals (zone_id) where zone_id is not null;
create index approvals_list on approvals (list_id) where list_id is not null;
create index approvals_team on approvals (team_id) where team_id is not null;
create index approvals_replaces on approvals (replaces) where replaces is not null;
alter table approvals enable row level security;

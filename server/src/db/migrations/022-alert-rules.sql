-- phase: expand
-- runs with: 0.2.0
-- Alert rules of teams: a condition on a series, its state, and the history of its firings.

create table alert_rules (
  id bigint generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  name text not null,
  kind text not null check (kind in ('port_utilisation', 'commit', 'light_margin', 'visibility')),
  condition jsonb not null,
  object_id bigint not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  enabled boolean not null,
  clear_minutes integer not null check (clear_minutes > 0),
  state text not null default 'unknown' check (state in ('ok', 'firing', 'unknown')),
  since timestamptz not null default now(),
  reason text default 'new',
  value double precision,
  evaluated_until timestamptz,
  above_ms bigint not null default 0,
  below_ms bigint not null default 0,
  unknown_ms bigint not null default 0,
  run_since timestamptz,
  told_unknown boolean not null default false,
  version integer not null default 1,
  created timestamptz not null default now(),
  created_by text not null,
  modified timestamptz not null default now(),
  unique (id, team_id)
);
comment on column alert_rules.condition is 'JSON: AlertCondition of contract/src/alert/alert-rule.ts';
comment on column alert_rules.object_id is 'id of the port, service or announcement of the condition; it may be gone, which the state shows';
comment on column alert_rules.reason is 'code from contract/src/reason/alert-reason.ts; null unless the state is unknown';
comment on column alert_rules.value is 'the last measured value';
comment on column alert_rules.evaluated_until is 'end of the last evaluated value; null before the first';
comment on column alert_rules.above_ms is 'measured time beyond the limit in the current run; below_ms: within it';
comment on column alert_rules.unknown_ms is 'time without data up to evaluated_until';
comment on column alert_rules.run_since is 'start of the current run beyond the limit; null without one';
comment on column alert_rules.told_unknown is 'whether the team was notified that there are no data';
create index alert_rules_team on alert_rules (team_id);
alter table alert_rules enable row level security;
create policy tenant on alert_rules to pharos_tenant using (team_id = current_team_id());
grant select, delete on alert_rules to pharos_tenant;
grant insert (team_id, name, kind, condition, object_id, severity, enabled, clear_minutes, reason, created_by) on alert_rules to pharos_tenant;
grant update (name, kind, condition, object_id, severity, enabled, clear_minutes, state, since, reason, value, evaluated_until, above_ms,
  below_ms, unknown_ms, run_since, told_unknown, version, modified) on alert_rules to pharos_tenant;

create table alert_firings (
  id bigint generated always as identity primary key,
  rule_id bigint not null,
  team_id integer not null,
  started timestamptz not null,
  fired timestamptz not null,
  ended timestamptz,
  ending text check (ending in ('cleared', 'changed', 'disabled', 'deleted')),
  value double precision not null,
  threshold double precision not null,
  foreign key (rule_id, team_id) references alert_rules (id, team_id) on delete cascade,
  check ((ended is null) = (ending is null))
);
create unique index alert_firings_open on alert_firings (rule_id) where ended is null;
create index alert_firings_rule on alert_firings (rule_id, id);
create index alert_firings_ended on alert_firings (ended) where ended is not null;
alter table alert_firings enable row level security;
create policy tenant on alert_firings to pharos_tenant using (team_id = current_team_id());
grant select, update (ended, ending) on alert_firings to pharos_tenant;

-- Which share of the route collectors heard an announcement: of announcements that a rule watches.
create table announcement_heard (
  announcement_id integer not null references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  at timestamptz not null,
  percent double precision not null,
  is_least boolean not null,
  primary key (announcement_id, at)
);
comment on column announcement_heard.at is 'start of the 5 minutes';
comment on column announcement_heard.percent is 'collectors with the announcement and its origin';
comment on column announcement_heard.is_least is 'not all collectors were known: it may be more';
create index announcement_heard_at on announcement_heard (at);
create index announcement_heard_team on announcement_heard (team_id);
alter table announcement_heard enable row level security;
create policy tenant on announcement_heard to pharos_tenant using (team_id = current_team_id());
grant select on announcement_heard to pharos_tenant;

-- New types of messages.
alter table outbox drop constraint outbox_type_check, add constraint outbox_type_check check (case
    when team_id is null then user_id is null and type in ('approval.opened', 'approval.reminder', 'approval.decided', 'service.billed')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'announcement.not_visible', 'announcement.other_path', 'validation.failed', 'event.started', 'event.updated', 'event.ended', 'incident.started',
      'incident.updated', 'incident.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed', 'alert.fired', 'alert.cleared', 'alert.unknown',
      'team.staff_access') end) not valid;

alter table webhooks drop constraint webhooks_events_check, add constraint webhooks_events_check check (cardinality(events) > 0 and events <@ case
        when team_id is null then array['approval.opened', 'approval.reminder', 'approval.decided', 'service.billed']
        else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'announcement.not_visible',
          'announcement.other_path', 'validation.failed', 'event.started', 'event.updated', 'event.ended', 'incident.started', 'incident.updated',
          'incident.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
          'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed', 'alert.fired', 'alert.cleared', 'alert.unknown',
      'team.staff_access'] end) not valid;

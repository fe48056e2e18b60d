-- The outbox, and what leaves the installation: mails, notifications, webhooks and monthly reports.

set local check_function_bodies = off;

create table mails (
  id bigint generated always as identity primary key,
  team_id integer references teams on delete cascade,
  recipient text not null,
  template text not null,
  content_sealed bytea,
  created timestamptz not null default now(),
  due timestamptz not null default now(),
  attempts integer not null default 0,
  sent timestamptz,
  failed timestamptz,
  error text,
  user_id integer references users on delete cascade,
  check (sent is null or failed is null),
  constraint mails_check1 check ((content_sealed is null) = (sent is not null or failed is not null)),
  constraint mails_membership foreign key (team_id, user_id) references memberships on delete cascade
);
comment on column mails.team_id is 'whose business it is about; null where it is about the account of a user';
comment on column mails.content_sealed is 'what the template is filled with: links that work once are in it; gone when it was sent or given up';
comment on column mails.due is 'when it is tried next; while it is being sent, when somebody else may try';
comment on column mails.failed is 'when it was given up';
comment on column mails.error is 'what the last attempt met; never what the mail says';
comment on column mails.user_id is 'the user to whom a mail of notifications is; null for other mails';
create index mails_due on mails (due) where sent is null and failed is null;
create index mails_created on mails (created);
create index mails_user on mails (user_id) where user_id is not null;
alter table mails enable row level security;
create policy tenant on mails to pharos_tenant using (team_id = current_team_id());
grant insert (team_id, recipient, template, content_sealed) on mails to pharos_tenant;

create table mail_tokens (
  id uuid primary key,
  user_id integer not null references users on delete cascade,
  purpose text not null check (purpose in ('confirm-email', 'password-reset')),
  secret_mac bytea not null,
  email text not null,
  account_state bytea not null,
  created timestamptz not null default now(),
  expires timestamptz not null
);
comment on table mail_tokens is 'tokens that were sent by mail and may still be used';
comment on column mail_tokens.email is 'where it was sent: whoever has the token reads that address';
comment on column mail_tokens.account_state is 'account_state() of the user when it was made';
create index mail_tokens_user on mail_tokens (user_id);
create index mail_tokens_expires on mail_tokens (expires);

-- Written by triggers and use cases in the transaction of the change, so that a change that is rolled back sends no message. No reference to
-- teams: checking it would cost more than the row. Readers follow the order (xid, id) up to `xid < pg_snapshot_xmin(pg_current_snapshot())`:
-- a transaction below that has ended, so no row can appear before one that was read.
create table outbox (
  id bigint generated always as identity,
  team_id integer,
  type text not null,
  at timestamptz not null default now(),
  data json not null,
  xid xid8 not null default pg_current_xact_id(),
  user_id integer,
  primary key (xid, id)
);
comment on column outbox.team_id is 'null: a message to the operator';
comment on column outbox.xid is 'the transaction in which it happened; rows become visible in no order, and are read in this one';
comment on column outbox.user_id is 'the only user whose stream gets the message; null: every reader of the team';
create index outbox_team on outbox (team_id, xid, id);
create index outbox_ended on outbox ((data ->> 'id') collate "C", team_id) where type = 'event.ended';
alter table outbox enable row level security;
create policy tenant on outbox to pharos_tenant using (team_id = current_team_id());
grant select, insert (team_id, type, data, user_id) on outbox to pharos_tenant;

-- Not valid, since an upgraded database may have older messages of other types.
alter table outbox add constraint outbox_type_check check (case
    when team_id is null then user_id is null and type in ('approval.opened', 'approval.reminder', 'approval.decided', 'service.billed')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie', 'announcement.unexpected_origin',
      'announcement.not_visible', 'announcement.other_path', 'validation.failed', 'event.started', 'event.updated', 'event.ended', 'incident.started',
      'incident.updated', 'incident.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
      'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed') end) not valid;

create table webhooks (
  id integer generated always as identity primary key,
  team_id integer references teams on delete cascade,
  url text not null,
  description text not null default '',
  events text[] not null,
  enabled boolean not null default true,
  disabled_reason text check (disabled_reason in ('user', 'gone', 'failing')),
  secret_sealed bytea not null,
  former_secret_sealed bytea,
  former_secret_until timestamptz,
  version integer not null default 1,
  created timestamptz not null default now(),
  created_by text not null,
  modified timestamptz not null default now(),
  last_delivery timestamptz,
  failing_since timestamptz,
  failures integer not null default 0,
  resting_until timestamptz,
  claim bigint not null default 0,
  claimed_until timestamptz,
  check (enabled = (disabled_reason is null)),
  constraint webhooks_events_check check (cardinality(events) > 0 and events <@ case
        when team_id is null then array['approval.opened', 'approval.reminder', 'approval.decided', 'service.billed']
        else array['announcement.status_changed', 'announcement.zombie', 'announcement.unexpected_origin', 'announcement.not_visible',
          'announcement.other_path', 'validation.failed', 'event.started', 'event.updated', 'event.ended', 'incident.started', 'incident.updated',
          'incident.ended', 'zone.updated', 'zone.status_changed', 'zone.dnssec_changed', 'port.status_changed', 'port.optic_warning',
          'port.bgp_session_changed', 'service.billed', 'cross_connect.status_changed', 'shield.list_changed'] end)
) with (fillfactor = 50);
comment on column webhooks.team_id is 'null: the webhook of the operator, which the settings define';
comment on column webhooks.secret_sealed is 'signs; bound to the id of the webhook';
comment on column webhooks.former_secret_until is 'until then the former secret signs too';
comment on column webhooks.version is 'raised by every change that somebody asked for; the ETag';
comment on column webhooks.last_delivery is 'when a message was last taken';
comment on column webhooks.failing_since is 'when the first of the failures in a row was; null after a success';
comment on column webhooks.resting_until is 'nothing is sent before: it did not answer, or asked for a pause';
comment on column webhooks.claim is 'raised by whoever sends: what an earlier one has to say no longer counts';
comment on column webhooks.claimed_until is 'somebody sends, or was killed while he did';
create index webhooks_team on webhooks (team_id, id);
create index webhooks_enabled on webhooks (id) where enabled;
create unique index webhooks_operator on webhooks ((true)) where team_id is null;
alter table webhooks enable row level security;
create policy tenant on webhooks to pharos_tenant using (team_id = current_team_id());
grant select, insert, delete, update (url, description, events, enabled, disabled_reason, secret_sealed, former_secret_sealed, former_secret_until,
  version, modified, failing_since, failures, resting_until) on webhooks to pharos_tenant;

create table webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook_id integer not null references webhooks on delete cascade,
  team_id integer,
  message_id text not null,
  type text not null,
  body text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed', 'cancelled')),
  created timestamptz not null default now(),
  due timestamptz not null default now(),
  step integer not null default 0,
  attempt_count integer not null default 0,
  attempts jsonb not null default '[]',
  last_attempt timestamptz,
  last_status integer,
  last_error text,
  duration_ms integer
);
comment on column webhook_deliveries.message_id is 'the same for all webhooks, and for every attempt';
comment on column webhook_deliveries.body is 'what is signed and sent, to the byte';
comment on column webhook_deliveries.due is 'when it is tried next';
comment on column webhook_deliveries.step is 'how many attempts of the schedule were made; begins anew when somebody has it sent again';
comment on column webhook_deliveries.attempts is 'the last of them';
create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_due on webhook_deliveries (webhook_id, due, id) where state = 'pending';
create index webhook_deliveries_created on webhook_deliveries (created) where state <> 'pending';
alter table webhook_deliveries enable row level security;
create policy tenant on webhook_deliveries to pharos_tenant using (team_id = current_team_id());
grant select, insert (webhook_id, team_id, message_id, type, body, due), update (state, due, step, attempt_count, attempts, last_attempt, last_status,
  last_error, duration_ms) on webhook_deliveries to pharos_tenant;

create table notifications (
  id bigint generated always as identity primary key,
  user_id integer not null references users on delete cascade,
  team_id integer,
  kind text not null,
  key text not null,
  at timestamptz not null,
  attrs jsonb not null,
  read timestamptz,
  mail text not null default 'none' check (mail in ('none', 'waiting', 'queued')),
  unique nulls not distinct (kind, key, user_id, team_id),
  foreign key (team_id, user_id) references memberships on delete cascade
);
comment on column notifications.key is 'identifies the thing within the kind: a user gets one notification about it';
comment on column notifications.mail is 'waiting: it is in no mail yet; queued: a mail with it was queued';
create index notifications_feed on notifications (user_id, team_id, id);
create index notifications_unread on notifications (user_id, team_id) where read is null;
create index notifications_waiting on notifications (user_id, team_id, id) where mail = 'waiting';
create index notifications_at on notifications (at);
alter table notifications enable row level security;
create policy tenant on notifications to pharos_tenant using (team_id = current_team_id());

create table notification_settings (
  user_id integer not null references users on delete cascade,
  team_id integer,
  mail boolean not null,
  digest text not null check (digest in ('immediate', 'hourly', 'daily')),
  attack_bps bigint check (attack_bps >= 0),
  attack_pps bigint check (attack_pps >= 0),
  kinds jsonb not null,
  monthly_report boolean not null default false,
  unique nulls not distinct (user_id, team_id),
  foreign key (team_id, user_id) references memberships on delete cascade
);
comment on column notification_settings.kinds is 'for each kind, whether it is mailed; the default applies to a kind that is missing';
comment on column notification_settings.monthly_report is 'whether the user gets the monthly report of the team by mail';
alter table notification_settings enable row level security;
create policy tenant on notification_settings to pharos_tenant using (team_id = current_team_id());

create table notification_mailings (
  user_id integer not null references users on delete cascade,
  team_id integer,
  due timestamptz,
  last timestamptz,
  unique nulls not distinct (user_id, team_id),
  foreign key (team_id, user_id) references memberships on delete cascade
);
comment on column notification_mailings.due is 'when the next mail is composed; null if nothing waits';
comment on column notification_mailings.last is 'when the last mail was queued';
create index notification_mailings_due on notification_mailings (due) where due is not null;
alter table notification_mailings enable row level security;
create policy tenant on notification_mailings to pharos_tenant using (team_id = current_team_id());

-- The position in the outbox up to which notifications were written.
create table notification_position (
  xid xid8 not null,
  id bigint not null,
  since timestamptz not null
);
comment on column notification_position.since is 'nothing that happened earlier is reported';

create table monthly_reports (
  team_id integer not null references teams on delete cascade,
  month text not null check (month ~ '^\d{4}-\d\d$'),
  created timestamptz not null default now(),
  due timestamptz not null,
  attempts integer not null default 1,
  outcome text check (outcome in ('mailed', 'no_data', 'no_subscribers')),
  pdf bytea,
  primary key (team_id, month),
  check (pdf is null or outcome = 'mailed')
);
comment on table monthly_reports is 'mails of monthly reports: the row is the claim, so that a team gets each month once';
comment on column monthly_reports.month is 'such as 2026-03, in the time zone of the team';
comment on column monthly_reports.due is 'when another process may try again, while there is no outcome';
comment on column monthly_reports.attempts is 'distinguishes a claim from a later one';
comment on column monthly_reports.pdf is 'the attachment of the mails, until they are sent';
create index monthly_reports_pdf on monthly_reports (created) where pdf is not null;
alter table monthly_reports enable row level security;

insert into notification_position (xid, id, since) values (pg_snapshot_xmin(pg_current_snapshot()), 0, now());

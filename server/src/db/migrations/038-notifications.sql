-- Personal notifications: what happened that concerns a user, in a team or (team_id null) as an employee of the provider. The feed
-- of the portal and the mails are both made of these rows. Rows of a member end with the membership.
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
  unique nulls not distinct (user_id, team_id),
  foreign key (team_id, user_id) references memberships on delete cascade
);
comment on column notification_settings.kinds is 'for each kind, whether it is mailed; the default applies to a kind that is missing';
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
insert into notification_position (xid, id, since) values (pg_snapshot_xmin(pg_current_snapshot()), 0, now());

-- A mail of notifications that was not sent when its recipient leaves the team is not sent any more.
alter table mails add column user_id integer references users on delete cascade,
  add constraint mails_membership foreign key (team_id, user_id) references memberships on delete cascade;
comment on column mails.user_id is 'the user to whom a mail of notifications is; null for other mails';
create index mails_user on mails (user_id) where user_id is not null;

-- Messages to one user of a team, on the stream only.
alter table outbox add column user_id integer, drop constraint outbox_type_check, add constraint outbox_type_check check (
  case when team_id is null then user_id is null and type in ('hold.opened', 'hold.reminder', 'hold.decided')
    when user_id is not null then type = 'notifications.changed'
    else type in ('announcement.status_changed', 'announcement.regions_changed', 'announcement.zombie',
      'announcement.unexpected_origin', 'validation.failed', 'event.started', 'event.updated', 'event.ended') end);
comment on column outbox.user_id is 'the only user whose stream gets the message; null: every reader of the team';
grant insert (user_id) on outbox to pharos_tenant;

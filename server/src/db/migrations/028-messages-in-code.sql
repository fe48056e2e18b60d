-- What becomes a message of webhooks and the stream is decided by the code that writes the change (decision 037), and so are the
-- status that is shown of an announcement and the checks that the platform file vouches for. Constraints, counters,
-- invalidation and the audit's guards stay in the database.

drop trigger announcements_told on announcements;
drop trigger announcement_validations_told on announcement_validations;
drop trigger team_events_told on team_events;
drop trigger team_events_told_again on team_events;
drop trigger regions_told on regions;
drop trigger outbox_fanned_out on outbox;
drop trigger outbox_rung on outbox;
drop trigger announcements_vouched on announcements;

drop function tell_announcement_statuses();
drop function tell_checked_statuses();
drop function tell_shown_statuses(integer[], text[]);
drop function tell_failed_validations();
drop function tell_events();
drop function fan_out();
drop function ring_outbox();
drop function vouch_for_announcement();
drop function unread_announcements();
drop function region_reach();
drop function shown_status(text, boolean);
drop function check_result(timestamptz, boolean, interval);
drop function flag_words(integer);
drop function iso_time(timestamptz);

alter table announcement_statuses_told rename to notified_statuses;
alter table notified_statuses rename constraint announcement_statuses_told_pkey to notified_statuses_pkey;
alter table notified_statuses
  rename constraint announcement_statuses_told_announcement_id_fkey to notified_statuses_announcement_id_fkey;
alter table notified_statuses rename constraint announcement_statuses_told_team_id_fkey to notified_statuses_team_id_fkey;
alter index announcement_statuses_told_team rename to notified_statuses_team;
comment on table notified_statuses is
  'last status sent to the team, of announcements whose stored status was not shown at the time; empty while every router can be read';

-- A team's change writes its messages in its own transaction, under row-level security.
grant insert (team_id, type, data) on outbox to pharos_tenant;
grant select, insert, update, delete on notified_statuses to pharos_tenant;

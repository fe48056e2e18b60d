-- Monthly reports by mail, and alerts of staff about holds of DNS and shield.
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
create index monthly_reports_pdf on monthly_reports (created) where pdf is not null;
comment on table monthly_reports is 'mails of monthly reports: the row is the claim, so that a team gets each month once';
comment on column monthly_reports.month is 'such as 2026-03, in the time zone of the team';
comment on column monthly_reports.due is 'when another process may try again, while there is no outcome';
comment on column monthly_reports.attempts is 'distinguishes a claim from a later one';
comment on column monthly_reports.pdf is 'the attachment of the mails, until they are sent';
alter table monthly_reports enable row level security;

alter table notification_settings add column monthly_report boolean not null default false;
comment on column notification_settings.monthly_report is 'whether the user gets the monthly report of the team by mail';

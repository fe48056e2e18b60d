-- Mails that are to be sent. A mail is a row of the transaction that is its reason, so that none is sent for what did not
-- happen and none is forgotten of what did; a loop sends what is due.

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
  check (sent is null or failed is null),
  check ((content_sealed is null) = (sent is not null or failed is not null))
);
comment on column mails.team_id is 'whose business it is about; null where it is about the account of a user';
comment on column mails.content_sealed is 'what the template is filled with: links that work once are in it; gone when it was sent or given up';
comment on column mails.due is 'when it is tried next; while it is being sent, when somebody else may try';
comment on column mails.failed is 'when it was given up';
comment on column mails.error is 'what the last attempt met; never what the mail says';
create index mails_due on mails (due) where sent is null and failed is null;
create index mails_created on mails (created);

-- A team's work may add a mail, and read none.
alter table mails enable row level security;
create policy tenant on mails to pharos_tenant using (team_id = current_team_id());
grant insert (team_id, recipient, template, content_sealed) on mails to pharos_tenant;

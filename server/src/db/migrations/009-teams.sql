-- What a team says of itself, its members and those it has invited.

alter table teams
  add column description text not null default '',
  add column billing_email text not null default '',
  add column technical_email text not null default '',
  add column abuse_email text not null default '',
  add column noc_phone text not null default '',
  add column country text not null default '' check (country = '' or country ~ '^[A-Z]{2}$'),
  add column timezone text not null default 'UTC',
  add column version integer not null default 1;
comment on column teams.timezone is 'IANA name, such as Europe/Amsterdam';
comment on column teams.version is 'raised by every change; the ETag';

-- By trigger, because the operator's file changes teams too.
create function raise_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  return new;
end $$;
create trigger teams_version before update on teams
  for each row when (old.* is distinct from new.*) execute function raise_version();

-- Somebody who is invited is a member to be: the invitation's id becomes the member's.
create sequence member_ids as integer;

alter table memberships rename column created to joined;
alter table memberships
  add column id integer not null default nextval('member_ids') unique,
  add column invited_by integer references users on delete set null,
  add column version integer not null default 1;
comment on column memberships.id is 'of one sequence with invitations';
comment on column memberships.version is 'raised by every change; the ETag';
create trigger memberships_version before update on memberships
  for each row when (old.* is distinct from new.*) execute function raise_version();
create index memberships_invited_by on memberships (invited_by);

create table invitations (
  id integer primary key default nextval('member_ids'),
  team_id integer not null references teams on delete cascade,
  email text not null,
  is_admin boolean not null default false,
  token_mac bytea not null,
  invited_by integer references users on delete set null,
  inviter text not null,
  inviter_name text not null,
  version integer not null default 1,
  created timestamptz not null default now(),
  sent timestamptz not null default now(),
  expires timestamptz not null,
  accepted timestamptz,
  accepted_by integer references users on delete cascade,
  account_created boolean not null default false,
  check ((accepted is null) = (accepted_by is null))
);
create unique index invitations_open on invitations (team_id, lower(email)) where accepted is null;
create index invitations_invited_by on invitations (invited_by);
create index invitations_accepted_by on invitations (accepted_by);
comment on column invitations.id is 'of one sequence with memberships: the member keeps it';
comment on column invitations.token_mac is 'of the token in the newest mail; those before it are dead';
comment on column invitations.inviter is 'who may withdraw it by leaving: user:7 or token:...';
comment on column invitations.inviter_name is 'as the mail said it';
comment on column invitations.sent is 'when the newest mail was';
comment on column invitations.accepted is 'kept until it expires, so that a link that is followed twice answers twice';
create trigger invitations_version before update of email, is_admin, token_mac, expires on invitations
  for each row when (old.* is distinct from new.*) execute function raise_version();

-- Who left or was removed does not come back by the domain of his address, only by an invitation.
create table former_members (
  team_id integer not null references teams on delete cascade,
  user_id integer not null references users on delete cascade,
  removed timestamptz not null default now(),
  ended_by text not null default 'team' check (ended_by in ('operator', 'team')),
  primary key (team_id, user_id)
);
comment on column former_members.ended_by is 'the operator''s file brings back whom it took away, and nobody else';
create index former_members_user on former_members (user_id);

-- What there is was made by the operator's file. What teams decide by themselves from now on is theirs: the file wins over it
-- only when it is told to.
alter table teams add column renamed timestamptz;
comment on column teams.renamed is 'when the team last named itself; null while the name is the operator''s';
alter table memberships add column managed_by text not null default 'operator' check (managed_by in ('operator', 'team'));
alter table memberships alter column managed_by set default 'team';
comment on column memberships.managed_by is 'who decided last that there is this member, and in which role';
alter table users add column managed_by text not null default 'operator' check (managed_by in ('operator', 'team'));
alter table users alter column managed_by set default 'team';
comment on column users.managed_by is 'whether the operator made the account, or a team by an invitation';

-- A user has the same key in each of his teams for another request.
alter table idempotency_keys drop constraint idempotency_keys_pkey, add primary key (team_id, credential, key);

-- A team sees the users who are its members, and of their sessions those that work in it.
alter table invitations enable row level security;
alter table former_members enable row level security;
alter table users enable row level security;
alter table sessions enable row level security;
create policy tenant on invitations to pharos_tenant using (team_id = current_team_id());
create policy tenant on former_members to pharos_tenant using (team_id = current_team_id());
create policy tenant on sessions to pharos_tenant using (team_id = current_team_id());
create policy tenant on users to pharos_tenant using (exists (
  select from memberships m where m.team_id = current_team_id() and m.user_id = users.id));

grant usage on sequence member_ids to pharos_tenant;
grant update (name, description, billing_email, technical_email, abuse_email, noc_phone, country, timezone, require_2fa,
  renamed) on teams to pharos_tenant;
grant update (is_admin, managed_by), delete on memberships to pharos_tenant;
grant select (id, team_id, email, is_admin, invited_by, inviter, version, created, sent, expires, accepted),
  insert (id, team_id, email, is_admin, token_mac, invited_by, inviter, inviter_name, expires),
  update (email, is_admin, token_mac, invited_by, inviter, inviter_name, sent, expires), delete on invitations to pharos_tenant;
grant select, insert on former_members to pharos_tenant;
grant select (id, email, first_name, last_name, display_name, totp_enabled) on users to pharos_tenant;
grant select (id, user_id, team_id, last_used, revoked), update (revoked, revoked_reason) on sessions to pharos_tenant;
grant select (id, team_id, is_admin, revoked), update (is_admin, revoked) on api_tokens to pharos_tenant;

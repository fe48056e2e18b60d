-- Letters of authorization: what a team uploads, what staff decide about it, and which announcements it is for.

create table letters (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  filename text not null check (length(filename) between 1 and 200),
  media_type text not null check (media_type in ('application/pdf', 'image/png', 'image/jpeg')),
  size integer not null check (size between 1 and 10485760),
  sha256 bytea not null check (length(sha256) = 32),
  status text not null default 'pending_review' check (status in ('pending_review', 'accepted', 'rejected')),
  reason text check ((reason is not null) = (status = 'rejected')),
  valid_until timestamptz,
  uploaded timestamptz not null default now(),
  uploaded_by text not null,
  reviewed timestamptz check ((reviewed is not null) = (status <> 'pending_review')),
  reviewed_by integer references users on delete set null,
  replaced_by integer references letters,
  check (replaced_by is null or status = 'pending_review')
);
create index letters_team on letters (team_id, id);
create index letters_pending on letters (id) where status = 'pending_review' and replaced_by is null;
comment on column letters.replaced_by is 'the newer letter, where every announcement of a pending one has a newer one; the API then calls it rejected';
comment on column letters.reviewed_by is 'null also where it was accepted without a person';

create table letter_announcements (
  letter_id integer not null references letters on delete cascade,
  announcement_id integer not null references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  replaced boolean not null default false,
  primary key (letter_id, announcement_id)
);
create index letter_announcements_announcement on letter_announcements (announcement_id, letter_id);
comment on column letter_announcements.replaced is 'a newer letter was uploaded for it before this one was decided';

-- Apart from the rest, because nearly every statement about letters has no use for megabytes.
create table letter_files (
  letter_id integer primary key references letters on delete cascade,
  team_id integer not null references teams on delete cascade,
  content bytea not null
);
-- What is compressed already is not tried again.
alter table letter_files alter column content set storage external;

alter table letters enable row level security;
alter table letter_announcements enable row level security;
alter table letter_files enable row level security;
create policy tenant on letters to pharos_tenant using (team_id = current_team_id());
create policy tenant on letter_announcements to pharos_tenant using (team_id = current_team_id());
create policy tenant on letter_files to pharos_tenant using (team_id = current_team_id());

-- A team uploads and replaces; to decide, by whatever mistake of ours, is not in its power.
grant select on letters, letter_announcements, letter_files to pharos_tenant;
grant insert (team_id, filename, media_type, size, sha256, valid_until, uploaded, uploaded_by) on letters to pharos_tenant;
grant update (replaced_by) on letters to pharos_tenant;
grant insert (letter_id, announcement_id, team_id), update (replaced) on letter_announcements to pharos_tenant;
grant insert on letter_files to pharos_tenant;

-- phase: expand
-- runs with: 0.2.0
-- Views of pages under a name: of a member, or of the whole team. The overview is a view whose content is its panels.

create table saved_views (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  user_id integer references users on delete cascade,
  page text not null,
  name text not null,
  search text not null default '',
  panels jsonb not null default '[]' check (jsonb_typeof(panels) = 'array' and octet_length(panels::text) <= 65536),
  created timestamptz not null default now(),
  creator text not null,
  version integer not null default 1
);
comment on table saved_views is 'what a page shows, under a name';
comment on column saved_views.user_id is 'whose it is; null: of the team';
comment on column saved_views.search is 'the search part of the address of the page';
comment on column saved_views.panels is 'of the overview: its panels in their order';
comment on column saved_views.creator is 'actor; kept after the account is deleted';
create unique index saved_views_name on saved_views (team_id, user_id, page, lower(name)) nulls not distinct;
create unique index saved_views_overview on saved_views (team_id, user_id) nulls not distinct where page = 'overview';
create index saved_views_user on saved_views (user_id) where user_id is not null;
alter table saved_views enable row level security;
create policy tenant on saved_views to pharos_tenant using (team_id = current_team_id());
grant select, delete, insert (team_id, user_id, page, name, search, panels, creator), update (user_id, name, search, panels) on saved_views to pharos_tenant;
create trigger saved_views_version before update on saved_views for each row when (old.* is distinct from new.*) execute function raise_version();

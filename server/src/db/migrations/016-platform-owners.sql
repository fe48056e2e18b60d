-- phase: expand
-- runs with: 0.2.0
-- Who manages each element of the platform: a file, or the portal. NetBox is in managed_by of the tables that it writes.

create table platform_owners (
  kind text not null,
  row_id text not null,
  managed_by text not null check (managed_by in ('platform', 'portal')),
  file text,
  applied timestamptz not null default now(),
  primary key (kind, row_id)
);
comment on table platform_owners is 'who manages an element; without a row it is a platform file of an unknown name';
comment on column platform_owners.row_id is 'id of the row in the table of the kind, as in the targets of the audit log';
comment on column platform_owners.file is 'platform file that named the element last; null for the portal and for documents over HTTP';
alter table platform_owners enable row level security;

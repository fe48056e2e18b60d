-- Import of inventory from NetBox: who manages locations and services, and the state of the last run.

alter table locations add column managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox'));
alter table services add column managed_by text not null default 'platform' check (managed_by in ('platform', 'netbox'));
comment on column locations.managed_by is 'the source that creates, changes and deletes the row, as for devices, ports and services';

create table inventory_imports (
  source text primary key check (source = 'netbox'),
  attempted timestamptz not null,
  succeeded timestamptz,
  error text,
  held jsonb not null default '[]',
  alarmed timestamptz
);
comment on table inventory_imports is 'last run of each import; no row before the first one';
comment on column inventory_imports.error is 'of the last run; null if it succeeded';
comment on column inventory_imports.held is 'deletions that wait for the operator, by kind';
comment on column inventory_imports.alarmed is 'when staff were notified of the held deletions; null if nothing is held';

-- What became of each delivery: notes on what could not be read, and the events that it is part of.
alter table deliveries
  add column notes jsonb not null default '[]',
  add column event_count integer,
  add column event_ids text[] not null default '{}';
alter table deliveries drop constraint deliveries_state_check;
alter table deliveries add constraint deliveries_state_check check (state in ('new', 'done', 'partial', 'failed'));
create index deliveries_failed on deliveries (source_key, received) where state in ('partial', 'failed');
comment on column deliveries.error is 'the first error as text; null without one';
comment on column deliveries.notes is
  'JSON array of {severity, code, place, attrs} with codes from contract/src/delivery-note.ts, at most 100';
comment on column deliveries.event_count is
  'events that the delivery created or updated; null before it is processed, and in rows from before the column existed';
comment on column deliveries.event_ids is 'their ids, at most 1000';

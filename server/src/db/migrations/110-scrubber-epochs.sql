-- phase: expand
-- runs with: 0.2.0-rc.1
-- The fence of scrubbers: a process that was paused cannot apply an older list after another one has taken over.

alter table scrubbers add column epoch bigint not null default 0;
comment on column scrubbers.epoch is 'raised by whoever takes the scrubber''s lock: the fence against a process that was paused';

-- phase: expand
-- runs with: 0.2.0-rc.1
-- The part of an attack that the rules of a team drop, measured by flows or by counters of scrubbers.

alter table event_marks add column effect jsonb;
comment on column event_marks.effect is 'part of the attack that rules drop in the last minute: share_bytes, share_packets and source; null if it was never measured';

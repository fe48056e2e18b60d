-- phase: expand
-- runs with: 0.2.0-rc.1
-- What the rules of a team drop of an attack, as flows or counters of scrubbers show it.

alter table event_marks add column effect jsonb;
comment on column event_marks.effect is 'what rules drop of the attack in the last minute: share_bytes, share_packets and source; null if it was never measured';

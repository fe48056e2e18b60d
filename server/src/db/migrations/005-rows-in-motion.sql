-- What the reconciler looks up by itself: rows that were switched and that no run has looked at, and every announcement of
-- a prefix.

-- Empty but for the moment between a switch and the run that it wakes. Whatever a run could not finish has a message. Its
-- price: a state that is written is written to every index of the table, since the state is in the condition.
-- In an order that no other index has, so that PostgreSQL takes it even where it believes that every row is in motion.
create index announcement_regions_in_motion on announcement_regions (region_id, since)
  where state in ('announcing', 'withdrawing') and message is null;

-- The unique index on it went when two teams could name the same prefix; a withdrawal is confirmed against all of them.
create index announcements_prefix on announcements (prefix);

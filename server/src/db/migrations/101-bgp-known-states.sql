-- phase: expand
-- runs with: 0.2.0-rc.1
-- The last named state of a BGP session while the device names none, so that a session that ends meanwhile is reset.

alter table bgp_sessions
  add column known_state text,
  add column known_at timestamptz,
  add column reset_is_exact boolean not null default true;
comment on column bgp_sessions.known_state is 'the last state that was not unknown, while it is unknown now; with its time in known_at';
comment on column bgp_sessions.reset_is_exact is 'false: reset is the time at which the session was last known to be established';

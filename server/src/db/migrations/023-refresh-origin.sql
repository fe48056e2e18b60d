-- Which refresh tokens had their grace period renewed, and from where a session was last refreshed: what a repeated refresh
-- token is judged by (decision 006).

alter table sessions
  add column renewed_until timestamptz[] not null default '{}',
  add column last_address inet,
  add column last_user_agent text;
update sessions set last_address = address, last_user_agent = user_agent,
  renewed_until = array_fill(null::timestamptz, array[cardinality(rotations)]);

comment on column sessions.rotations is
  'when the tokens counter-n .. counter-1 were rotated, oldest first: the last one, and those before it that are repeatable';
comment on column sessions.renewed_until is
  'for each token of rotations, until when it is repeatable after its grace period was renewed; null if it was not';
comment on column sessions.last_address is 'from where it was last refreshed, or else opened';
comment on column sessions.last_user_agent is 'by which user agent it was last refreshed, or else opened';

-- phase: expand
-- runs with: 0.2.0-rc.1
-- The states of a device that no process reads any more are not known: a team is told so.

grant select (next_poll, lease_until) on device_states to pharos_tenant;

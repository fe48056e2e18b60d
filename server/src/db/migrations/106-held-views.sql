-- phase: expand
-- runs with: 0.2.0-rc.1
-- What a team holds of the inventory, as views: joins that a statement computes once. A policy is asked about each row, and asked the policies of the
-- tables that it read about each of theirs. A view runs as its owner, to whom no policy applies, and compares the team itself.

create view held_ports with (security_barrier) as
  select a.team_id, a.service_id, a.valid, p.id, p.circuit_id, p.name, p.device_id, p.interface_key, p.interface_id, p.media, p.speed_bps,
    p.description, p.panel, p.module, p.position, p.linked_at,
    d.name as device_name, d.location_key, s.seen, s.next_poll, s.lease_until,
    i.admin, i.oper, i.type, i.speed_bps as interface_speed_bps, i.last_change, i.lag_id, c.state as counters,
    coalesce(p.interface_id in (select t.interface_id from transceivers t where t.is_present and t.has_warning), false) as has_optic_warning
  from port_assignments a join ports p on p.id = a.port_id
    left join devices d on d.id = p.device_id
    left join device_states s on s.device_id = p.device_id
    left join interfaces i on i.id = p.interface_id
    left join interface_counters c on c.interface_id = p.interface_id
  where a.team_id = (select current_team_id()) and a.valid @> now();
comment on view held_ports is 'ports that are assigned to the team of the transaction now, with their device, interface, counters and module';

create view visible_devices with (security_barrier) as
  select (select current_team_id()) as team_id, d.id, d.name, d.role, d.vendor, d.model, d.serial, d.location_key, d.management_address,
    d.customer_id, d.maintenance_until, d.tags, s.identity, s.booted, s.seen, s.error, s.missed, s.next_poll, s.lease_until
  from devices d left join device_states s on s.device_id = d.id
  where d.id in (
    select own.id from devices own where own.customer_id = (select current_team_id())
    union select p.device_id from port_assignments a join ports p on p.id = a.port_id
      where a.team_id = (select current_team_id()) and a.valid @> now());
comment on view visible_devices is 'devices of the team of the transaction, and those of its ports, with their state';

grant select on held_ports, visible_devices to pharos_tenant;

alter policy tenant on ports using (exists (select from held_ports h where h.id = ports.id));
alter policy tenant on devices using (
  customer_id = current_team_id() or exists (select from held_ports h where h.device_id = devices.id));
alter policy tenant on device_states using (exists (select from devices d where d.id = device_states.device_id));
alter policy tenant on interfaces using (
  exists (select from held_ports h where h.device_id = interfaces.device_id and h.interface_key = interfaces.key)
  or exists (select from held_ports h where h.device_id = interfaces.device_id and h.interface_id = interfaces.lag_id)
  or exists (select from devices d where d.id = interfaces.device_id and d.customer_id = current_team_id()));

-- Whoever follows what happens (the stream) is woken by it, and reads it as the team.

grant select on outbox to pharos_tenant;

-- Statements that tell nothing fire it as well.
create function ring_outbox() returns trigger
  language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from new_rows) then
    perform pg_notify('pharos', 'outbox');
  end if;
  return null;
end $$;
revoke execute on function ring_outbox() from public;

create trigger outbox_rung after insert on outbox referencing new table as new_rows
  for each statement execute function ring_outbox();

-- Rows of events that affect networks which the team does not hold were written whole. Here everything is taken out of them
-- that may concern others, and their resources are marked: the rematch loop then writes each team's part.

create temporary table cut on commit drop as
  select te.team_id, te.event_id,
    exists (select from event_relationships r where r.event_id = te.event_id and r.team_id = te.team_id
      and r.match_type <> 'origin_asn' and r.match_value like '%:%') as is_ipv6
  from team_events te
  where te.event_id in (select event_id from event_relationships where match_type = 'covered_by'
      union select event_id from event_networks)
    and exists (
      select from (
          select e.affected_network as network from events e where e.id = te.event_id
          union select n.network from event_networks n where n.event_id = te.event_id) a
      where not exists (
        select from event_relationships r
        where r.event_id = te.event_id and r.team_id = te.team_id
          and case when r.match_type in ('exact', 'covers') then r.match_value::cidr >>= a.network end));
analyze cut;

-- Nothing has happened: nobody is told.
alter table team_events disable trigger team_events_told_again;
update team_events te set affected_network = null, description = '', parsed_data = '{}',
  flags = case when c.is_ipv6 then flags else flags & ~8 end,
  record = (select left((r.old || jsonb_build_object('affected_network', '', 'description', '', 'source_event_id', '',
      'source_resource_id', '', 'source_location_id', '', 'source_location', '',
      'flags', case when c.is_ipv6 then r.old -> 'flags' else (r.old -> 'flags') - 'IPV6' end))::text, -1)
    from (select (te.record || '}')::jsonb as old) r)
from cut c where te.team_id = c.team_id and te.event_id = c.event_id;
alter table team_events enable trigger team_events_told_again;

-- What the stream tells again to whom comes back, and what is still to be sent. What was sent is the receiver's.
update outbox o set data = (o.data::jsonb || jsonb_build_object('affected_network', '',
    'flags', case when c.is_ipv6 then o.data::jsonb -> 'flags' else (o.data::jsonb -> 'flags') - 'IPV6' end))::json
from cut c where o.team_id = c.team_id and o.type like 'event.%' and (o.data ->> 'id') collate "C" = c.event_id;
update webhook_deliveries d set body = (d.body::jsonb || jsonb_build_object('data', d.body::jsonb -> 'data'
    || jsonb_build_object('affected_network', '', 'flags', case when c.is_ipv6 then d.body::jsonb #> '{data,flags}'
      else (d.body::jsonb #> '{data,flags}') - 'IPV6' end)))::text
from cut c where d.team_id = c.team_id and d.type like 'event.%'
  and d.body::jsonb #>> '{data,id}' collate "C" = c.event_id;

update prefixes set matched = false where matched and id in (
  select r.match_resource_id from event_relationships r join cut c using (team_id, event_id)
  where r.match_resource = 'prefix');
update announcements set matched = false where matched and id in (
  select r.match_resource_id from event_relationships r join cut c using (team_id, event_id)
  where r.match_resource = 'announcement');

-- Several routers per region, what the reconciler remembers of each, and reasons as codes.

alter table regions
  add column speakers jsonb,
  add column quorum integer check (quorum > 0),
  add column communities text[] not null default '{}',
  add column large_communities text[] not null default '{}',
  add column neighbors4 boolean not null default true,
  add column neighbors6 boolean not null default true;
update regions set speakers = jsonb_build_array(speaker || jsonb_build_object('name', slug));
alter table regions alter column speakers set not null, drop column speaker;
comment on column regions.speakers is 'how each router of the region is reached; the platform file defines the shape';
comment on column regions.quorum is 'routers that must carry a route before it counts as announced; null: all that are not drained';
comment on column regions.neighbors4 is 'whether a quorum of routers has an established BGP session that carries IPv4';
comment on column regions.neighbors6 is 'the same for IPv6';

create table region_routers (
  region_id integer not null references regions on delete cascade,
  name text not null,
  drained timestamptz,
  applied jsonb,
  last_check timestamptz,
  last_check_result boolean,
  last_error text,
  routes integer,
  neighbors jsonb not null default '[]',
  primary key (region_id, name)
);
comment on table region_routers is 'what the reconciler last saw of each router; for staff';
comment on column region_routers.drained is 'since when its routes are withdrawn, and left to the other routers of the region';
comment on column region_routers.applied is 'the ASN and next hops with which its routes were last announced';

-- A reason is a code of contract/src/region-reason.ts with its attributes. The old sentences are dropped: the next run
-- of the reconciler writes the codes.
drop index announcement_regions_in_motion;
alter table announcement_regions
  drop column message,
  add column reason text,
  add column attrs jsonb,
  add column announced_origin bigint;
create index announcement_regions_in_motion on announcement_regions (region_id, since)
  where state in ('announcing', 'withdrawing') and reason is null;
update announcement_regions ar set announced_origin = a.origin_asn
  from announcements a where a.id = ar.announcement_id and ar.state in ('announced', 'withdrawing');
comment on column announcement_regions.announced_origin is
  'the origin with which a router of the region last showed the route; null once all of them have shown that it is gone';

alter table announcements add column checked_origin bigint;
update announcements set checked_origin = origin_asn where claimed is not null;
comment on column announcements.checked_origin is 'the origin for which every check passed; a row with another one is not announced';

create or replace function vouch_for_announcement() returns trigger language plpgsql as $$
begin
  new.vouched := array_remove(array[case when new.irr_validated is not null then 'irr' end,
    case when new.rpki_validated is not null then 'rpki' end, case when new.loa_validated is not null then 'loa' end], null);
  if cardinality(new.vouched) = 3 then
    new.clearance := 'passed';
    new.claimed := coalesce(new.claimed, now());
    new.checked_origin := new.origin_asn;
  end if;
  return new;
end $$;

-- A hold keeps the routes as they were, so that a router that is restarted gets them again until somebody decides.
alter table holds
  add column changes jsonb not null default '[]',
  add column routes jsonb not null default '[]',
  add column findings jsonb not null default '[]',
  drop column detail;
update holds set findings = jsonb_build_array(jsonb_build_object('reason', reason, 'attrs', '{}'::jsonb));
comment on column holds.changes is 'routes whose origin or next hop would change: router, prefix, from, to';
comment on column holds.routes is 'routes without a row, as the routers held them when the hold was opened: router, route';
comment on column holds.findings is 'reasons with their numbers, the gravest first';

-- The guard counts prefixes, not sends.
alter table region_withdrawals add column prefix cidr, add column counted_for integer;
delete from region_withdrawals;
alter table region_withdrawals
  alter column prefix set not null,
  drop column withdrawals,
  drop column approved;
comment on table region_withdrawals is 'withdrawals that nobody approved or asked for by name, written before they are sent';
comment on column region_withdrawals.counted_for is 'the team whose share it takes';

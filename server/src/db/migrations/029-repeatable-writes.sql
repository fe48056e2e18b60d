-- What a repeated request needs: the regions that enabling an announcement restores, the digest of each delivery, and stored
-- answers in the order of their fields.

alter table announcement_regions add column restorable boolean not null default false;
comment on column announcement_regions.restorable is
  'the announcement has no regions now, and this one was in its last set of regions: enabling it without a region restores it';

-- Announcements without regions: the last set was the region that was disabled last.
with bare as (
  select announcement_id from announcement_regions group by announcement_id having not bool_or(configured)
), last as (
  select distinct on (ar.announcement_id) ar.announcement_id, ar.region_id
  from bare join announcement_regions ar using (announcement_id) join regions r on r.id = ar.region_id
  order by ar.announcement_id, (
    select max(h.id) from announcement_history h
    where h.announcement_id = ar.announcement_id and h.kind = 'disabled' and h.detail ->> 'region' = r.slug
  ) desc nulls last, ar.since desc, ar.region_id
)
update announcement_regions ar set restorable = true
from last where ar.announcement_id = last.announcement_id and ar.region_id = last.region_id;

alter table delivery_ids add column body_sha256 bytea;
comment on column delivery_ids.body_sha256 is
  'digest of the body, so that another body under the same id is rejected; null for deliveries from before this column';

alter table idempotency_keys alter column body type json;
comment on column idempotency_keys.body is 'the body of the answer with its fields in order; null if it has none';

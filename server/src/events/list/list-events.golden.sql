-- The statements of the related list, written by event-page.test.ts and never run from here.
-- $1, $2, ... are parameters; why they are what they are is in event-page.store.ts.

-- first page without a filter
select (
  select coalesce(sum(events), 0)::bigint
  from team_event_counts
  where team_id = $1 and facet = 0 and measure = 'all') as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from (
      select *
      from (
        select start_at, event_id, record || ',"relationships":' || relationships || '}' as element
        from team_events
        where team_id = $2
        order by start_at asc, event_id asc
        limit 100) e
      order by start_at asc, event_id asc
      limit $3) e), '') as results;

-- second page by start
with
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from team_event_counts
    where team_id = $1 and facet = 0 and measure = 'all') as n),
page as materialized (
  select *
  from (
    select start_at, event_id
    from team_events
    where team_id = $2
    order by start_at asc, event_id asc
    limit 2000) s
  order by start_at asc, event_id asc
  offset $3::bigint
  limit $4)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $5 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- deep page by start
with
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from team_event_counts
    where team_id = $1 and facet = 0 and measure = 'all') as n),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, ($2::bigint + 0) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $3 and facet = 0 and measure = $4
      group by bucket) c) c
  where upto > ($5::bigint + 0) and upto - events < ($6::bigint + 0) + $7),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $8 and facet = 0 and measure = $9 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks)
      group by bucket) c) c
  where upto > (select skip from found_blocks) and upto - events < (select skip from found_blocks) + $10),
place as materialized (
  select low, high, skip as skip
  from (
    select to_timestamp(first * 86400.0) as low, to_timestamp((last + 1) * 86400.0) as high, skip
    from found) f),
page as materialized (
  select *
  from (
    select start_at, event_id
    from team_events
    where team_id = $11 and start_at >= (select low from place) and start_at < (select high from place)
    order by start_at asc, event_id asc
    limit (select skip from place) + $12) s
  order by start_at asc, event_id asc
  offset (select skip from place)
  limit $13)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $14 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by start with a flag
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and flags & $2::integer <> 0),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $3 and facet = f.id and measure = 'all'
      offset 0) c) as n),
page as materialized (
  select *
  from (
    select e.*
    from facets f
    cross join lateral (
      select start_at, event_id
      from team_events
      where team_id = $4 and facet = f.id and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
      order by start_at asc, event_id asc
      limit 100) e) s
  order by start_at asc, event_id asc
  offset $5::bigint
  limit $6)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $7 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by start in a window
with
total as materialized (
  select (( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $1 and facet = 0 and measure = $2 and bucket < $3::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $4 and facet = 0 and measure = $5 and bucket >= $6::integer and bucket < $7::integer) + (
      select count(*)
      from team_events
      where team_id = $8 and start_at >= $9::timestamptz and start_at <= $10::timestamptz)) - ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $11 and facet = 0 and measure = $12 and bucket < $13::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $14 and facet = 0 and measure = $15 and bucket >= $16::integer and bucket < $17::integer) + (
      select count(*)
      from team_events
      where team_id = $18 and end_at >= $19::timestamptz and end_at < $20::timestamptz))) as n),
running as materialized (
  select e.*
  from generate_series(0, 33) as s(span)
  cross join lateral (
    select start_at, event_id
    from team_events
    where team_id = $21 and (span, start_at) < (s.span, $22::timestamptz) and (span, start_at) >= (s.span, $23::timestamptz - make_interval(secs => power(2, s.span) * 1.001)) and end_at + interval '0' >= $24::timestamptz
    offset 0) e
  union all
  select start_at, event_id
  from team_events
  where team_id = $25 and (span, start_at) >= (99, '-infinity') and (span, start_at) < (99, $26::timestamptz)),
before as materialized (
  select count(*) as n
  from running),
page as materialized (
  select *
  from ( (
      select *
      from running
      order by start_at asc, event_id asc
      offset $27
      limit $28)
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $29 and start_at >= $30::timestamptz and start_at <= $31::timestamptz
        order by start_at asc, event_id asc
        limit 100) s
      order by start_at asc, event_id asc
      offset greatest($32 - (select n from before), 0)
      limit $33)) p
  order by start_at asc, event_id asc
  limit $34)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $35 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- deep page by start in a window, with a flag
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and flags & $2::integer <> 0),
total as materialized (
  select (( (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $3 and facet = f.id and measure = $4 and bucket < $5::integer
        offset 0) c) + (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $6 and facet = f.id and measure = $7 and bucket >= $8::integer and bucket < $9::integer
        offset 0) c) + (
      select count(*)
      from facets f
      cross join lateral (
        select
        from team_events
        where team_id = $10 and (facet, start_at) >= (f.id, $11::timestamptz) and (facet, start_at) <= (f.id, $12::timestamptz)
        offset 0) e)) - ( (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $13 and facet = f.id and measure = $14 and bucket < $15::integer
        offset 0) c) + (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $16 and facet = f.id and measure = $17 and bucket >= $18::integer and bucket < $19::integer
        offset 0) c) + (
      select count(*)
      from team_events
      where team_id = $20 and end_at >= $21::timestamptz and end_at < $22::timestamptz and facet + 0 = any(array(
        select id
        from "facets"))))) as n),
running as materialized (
  select e.*
  from generate_series(0, 33) as s(span)
  cross join lateral (
    select start_at, event_id
    from team_events
    where team_id = $23 and (span, start_at) < (s.span, $24::timestamptz) and (span, start_at) >= (s.span, $25::timestamptz - make_interval(secs => power(2, s.span) * 1.001)) and end_at + interval '0' >= $26::timestamptz and facet + 0 = any(array(
      select id
      from "facets"))
    offset 0) e
  union all
  select start_at, event_id
  from team_events
  where team_id = $27 and (span, start_at) >= (99, '-infinity') and (span, start_at) < (99, $28::timestamptz) and facet + 0 = any(array(
    select id
    from "facets"))),
before as materialized (
  select count(*) as n
  from running),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, (greatest($29 - (select n from before), 0) + ( (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $30 and facet = f.id and measure = $31 and bucket < $32::integer
        offset 0) c) + (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $33 and facet = f.id and measure = $34 and bucket >= $35::integer and bucket < $36::integer
        offset 0) c) + (
      select count(*)
      from facets f
      cross join lateral (
        select
        from team_events
        where team_id = $37 and (facet, start_at) >= (f.id, $38::timestamptz) and (facet, start_at) < (f.id, $39::timestamptz)
        offset 0) e))) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $40 and facet = f.id and measure = $41
        offset 0) c
      group by bucket) c) c
  where upto > (greatest($42 - (select n from before), 0) + ( (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $43 and facet = f.id and measure = $44 and bucket < $45::integer
        offset 0) c) + (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $46 and facet = f.id and measure = $47 and bucket >= $48::integer and bucket < $49::integer
        offset 0) c) + (
      select count(*)
      from facets f
      cross join lateral (
        select
        from team_events
        where team_id = $50 and (facet, start_at) >= (f.id, $51::timestamptz) and (facet, start_at) < (f.id, $52::timestamptz)
        offset 0) e))) and upto - events < (greatest($53 - (select n from before), 0) + ( (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $54 and facet = f.id and measure = $55 and bucket < $56::integer
        offset 0) c) + (
      select coalesce(sum(events), 0)::bigint
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $57 and facet = f.id and measure = $58 and bucket >= $59::integer and bucket < $60::integer
        offset 0) c) + (
      select count(*)
      from facets f
      cross join lateral (
        select
        from team_events
        where team_id = $61 and (facet, start_at) >= (f.id, $62::timestamptz) and (facet, start_at) < (f.id, $63::timestamptz)
        offset 0) e))) + $64),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $65 and facet = f.id and measure = $66 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks)
        offset 0) c
      group by bucket) c) c
  where upto > (select skip from found_blocks) and upto - events < (select skip from found_blocks) + $67),
place as materialized (
  select low, high, case when low <= $68::timestamptz then greatest($69 - (select n from before), 0) else skip end as skip
  from (
    select to_timestamp(first * 86400.0) as low, to_timestamp((last + 1) * 86400.0) as high, skip
    from found) f),
page as materialized (
  select *
  from ( (
      select *
      from running
      order by start_at asc, event_id asc
      offset $70
      limit $71)
    union all (
      select *
      from (
        select e.*
        from facets f
        cross join lateral (
          select start_at, event_id
          from team_events
          where team_id = $72 and facet = f.id and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity') and start_at >= $73::timestamptz and start_at <= $74::timestamptz and start_at >= (select low from place) and start_at < (select high from place)
          order by start_at asc, event_id asc
          limit (select skip from place) + $75) e) s
      order by start_at asc, event_id asc
      offset (select skip from place)
      limit $76)) p
  order by start_at asc, event_id asc
  limit $77)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $78 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by end
with
ended as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from team_event_counts
    where team_id = $1 and facet = 0 and measure = 'end_block' and bucket < 2147483647 / 64) as n),
page as materialized (
  select *
  from ( (
      select *
      from (
        select end_at, event_id
        from team_events
        where team_id = $2 and end_at is not null
        order by end_at desc, event_id asc
        limit 100) s
      order by end_at desc nulls last, event_id asc
      offset $3
      limit $4)
    union all (
      select *
      from (
        select end_at, event_id
        from team_events
        where team_id = $5 and end_at is null and $6::bigint + $7 > (select n from ended)
        order by event_id asc
        limit greatest($8 - (select n from ended), 0) + $9) s
      order by end_at desc nulls last, event_id asc
      offset greatest($10 - (select n from ended), 0)
      limit $11)) p
  order by end_at desc nulls last, event_id asc
  limit $12)
select (
  select coalesce(sum(events), 0)::bigint
  from team_event_counts
  where team_id = $13 and facet = 0 and measure = 'all') as count, coalesce((
    select string_agg(e.element, ',' order by end_at desc nulls last, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $14 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- deep page by end
with
ended as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from team_event_counts
    where team_id = $1 and facet = 0 and measure = 'end_block' and bucket < 2147483647 / 64) as n),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, $2::bigint - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket desc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $3 and facet = 0 and measure = $4 and bucket < 2147483647 / 64
      group by bucket) c) c
  where upto > $5::bigint and upto - events < $6::bigint + $7),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket desc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $8 and facet = 0 and measure = $9 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks)
      group by bucket) c) c
  where upto > (select skip from found_blocks) and upto - events < (select skip from found_blocks) + $10),
page as materialized (
  select *
  from ( (
      select *
      from (
        select end_at, event_id
        from team_events
        where team_id = $11 and end_at >= (
          select to_timestamp(first * 86400.0)
          from found) and end_at < (
          select to_timestamp((last + 1) * 86400.0)
          from found)
        order by end_at desc, event_id asc
        limit (select skip from found) + $12) s
      order by end_at desc nulls last, event_id asc
      offset (select skip from found)
      limit $13)
    union all (
      select *
      from (
        select end_at, event_id
        from team_events
        where team_id = $14 and end_at is null and $15::bigint + $16 > (select n from ended)
        order by event_id asc
        limit greatest($17 - (select n from ended), 0) + $18) s
      order by end_at desc nulls last, event_id asc
      offset greatest($19 - (select n from ended), 0)
      limit $20)) p
  order by end_at desc nulls last, event_id asc
  limit $21)
select (
  select coalesce(sum(events), 0)::bigint
  from team_event_counts
  where team_id = $22 and facet = 0 and measure = 'all') as count, coalesce((
    select string_agg(e.element, ',' order by end_at desc nulls last, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $23 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- deep page by rate
with
found as materialized (
  select min(bucket) as first, max(bucket) as last, $1::bigint - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket desc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $2 and facet = 0 and measure = $3
      group by bucket) c) c
  where upto > $4::bigint and upto - events < $5::bigint + $6),
page as materialized (
  select *
  from (
    select affected_bps, event_id
    from team_events
    where team_id = $7 and "affected_bps" >= (
      select bucket_rate(first)
      from found) and "affected_bps" < (
      select bucket_rate(last + 1)
      from found)
    order by affected_bps desc, event_id asc
    limit (select skip from found) + $8) s
  order by affected_bps desc, event_id asc
  offset (select skip from found)
  limit $9)
select (
  select coalesce(sum(events), 0)::bigint
  from team_event_counts
  where team_id = $10 and facet = 0 and measure = 'all') as count, coalesce((
    select string_agg(e.element, ',' order by affected_bps desc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $11 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by rate in a window
with
total as materialized (
  select (( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $1 and facet = 0 and measure = $2 and bucket < $3::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $4 and facet = 0 and measure = $5 and bucket >= $6::integer and bucket < $7::integer) + (
      select count(*)
      from team_events
      where team_id = $8 and start_at >= $9::timestamptz and start_at <= $10::timestamptz)) - ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $11 and facet = 0 and measure = $12 and bucket < $13::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $14 and facet = 0 and measure = $15 and bucket >= $16::integer and bucket < $17::integer) + (
      select count(*)
      from team_events
      where team_id = $18 and end_at >= $19::timestamptz and end_at < $20::timestamptz))) as n),
page as materialized (
  select *
  from ( (
      select *
      from (
        select *
        from (
          select e.*
          from generate_series(0, 33) as s(span)
          cross join lateral (
            select affected_bps, event_id
            from team_events
            where team_id = $21 and (span, start_at) < (s.span, $22::timestamptz) and (span, start_at) >= (s.span, $23::timestamptz - make_interval(secs => power(2, s.span) * 1.001)) and end_at + interval '0' >= $24::timestamptz
            offset 0) e
          union all
          select affected_bps, event_id
          from team_events
          where team_id = $25 and (span, start_at) >= (99, '-infinity') and (span, start_at) < (99, $26::timestamptz)
          union all
          select affected_bps, event_id
          from team_events
          where team_id = $27 and start_at >= $28::timestamptz and start_at <= $29::timestamptz) g
        where (select n from total) <= 20000
        limit 20001) g
      order by affected_bps desc, event_id asc
      offset $30
      limit $31)
    union all (
      select *
      from (
        select affected_bps, event_id
        from team_events
        where team_id = $32 and start_at <= $33::timestamptz and (end_at >= $34::timestamptz or end_at is null) and (select n from total) > 20000
        order by affected_bps desc, event_id asc
        limit 100) s
      order by affected_bps desc, event_id asc
      offset $35
      limit $36) ) p
  order by affected_bps desc, event_id asc
  limit $37)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by affected_bps desc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $38 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by start with a status and a class
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and status & $2::integer <> 0 and classification_key = any($3::text[])),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $4 and facet = f.id and measure = 'all'
      offset 0) c) as n),
page as materialized (
  select *
  from (
    select e.*
    from facets f
    cross join lateral (
      select start_at, event_id
      from team_events
      where team_id = $5 and facet = f.id and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
      order by start_at asc, event_id asc
      limit 100) e) s
  order by start_at asc, event_id asc
  offset $6::bigint
  limit $7)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $8 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- deep page by start of a source
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and source_key = any($2::text[])),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $3 and facet = f.id and measure = 'all'
      offset 0) c) as n),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, ($4::bigint + 0) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $5 and facet = f.id and measure = $6
        offset 0) c
      group by bucket) c) c
  where upto > ($7::bigint + 0) and upto - events < ($8::bigint + 0) + $9),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from facets f
      cross join lateral (
        select bucket, events
        from team_event_counts
        where team_id = $10 and facet = f.id and measure = $11 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks)
        offset 0) c
      group by bucket) c) c
  where upto > (select skip from found_blocks) and upto - events < (select skip from found_blocks) + $12),
place as materialized (
  select low, high, skip as skip
  from (
    select to_timestamp(first * 86400.0) as low, to_timestamp((last + 1) * 86400.0) as high, skip
    from found) f),
page as materialized (
  select *
  from (
    select e.*
    from facets f
    cross join lateral (
      select start_at, event_id
      from team_events
      where team_id = $13 and facet = f.id and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity') and start_at >= (select low from place) and start_at < (select high from place)
      order by start_at asc, event_id asc
      limit (select skip from place) + $14) e) s
  order by start_at asc, event_id asc
  offset (select skip from place)
  limit $15)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $16 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by rate of a source
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and source_key = any($2::text[])),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $3 and facet = f.id and measure = 'all'
      offset 0) c) as n),
page as materialized (
  select *
  from ( (
      select *
      from (
        select *
        from (
          select e.*
          from facets f
          cross join lateral (
            select affected_bps, event_id
            from team_events
            where team_id = $4 and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
            offset 0) e) g
        where (select n from total) <= 20000
        limit 20001) g
      order by affected_bps desc, event_id asc
      offset $5
      limit $6)
    union all (
      select *
      from (
        select affected_bps, event_id
        from team_events
        where team_id = $7 and facet + 0 = any(array(
          select id
          from "facets")) and (select n from total) > 20000
        order by affected_bps desc, event_id asc
        limit 100) s
      order by affected_bps desc, event_id asc
      offset $8
      limit $9) ) p
  order by affected_bps desc, event_id asc
  limit $10)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by affected_bps desc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $11 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by start with a minimum rate
with
of_rate as materialized (
  select ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $1 and facet = 0 and measure = $2 and bucket > rate_bucket($3::bigint)) + (
      select count(*)
      from team_events
      where team_id = $4 and affected_bps >= $5::bigint and affected_bps < (
        select bucket_rate(rate_bucket($6::bigint) + 1)))) as n),
gathered as materialized ( (
    select *
    from (
      select start_at, event_id
      from team_events
      where team_id = $7 and affected_bps >= $8::bigint and (select n from of_rate) <= 20000 and (select n from of_rate) <= 9223372036854775807 and affected_bps >= $9::bigint
      limit 20001) g) ),
page as materialized (
  select *
  from ((select * from gathered)
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $10 and true and (select n from of_rate) > 20000 and 9223372036854775807 > 20000 and affected_bps >= $11::bigint
        order by start_at asc, event_id asc
        limit 100) s)) p
  order by start_at asc, event_id asc
  offset $12
  limit $13)
select (select n from of_rate) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $14 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by start with a minimum rate and a status
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and status & $2::integer <> 0),
of_rate as materialized (
  select ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $3 and facet = 0 and measure = $4 and bucket > rate_bucket($5::bigint)) + (
      select count(*)
      from team_events
      where team_id = $6 and affected_bps >= $7::bigint and affected_bps < (
        select bucket_rate(rate_bucket($8::bigint) + 1)))) as n),
of_scope as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $9 and facet = f.id and measure = 'all'
      offset 0) c) as n),
gathered as materialized ( (
    select *
    from (
      select start_at, event_id
      from team_events
      where team_id = $10 and affected_bps >= $11::bigint and (select n from of_rate) <= 20000 and (select n from of_rate) <= (select n from of_scope) and facet + 0 = any(array(
        select id
        from "facets")) and affected_bps >= $12::bigint
      limit 20001) g)
  union all
  select start_at, event_id
  from (
    select e.*
    from facets f
    cross join lateral (
      select *
      from team_events
      where team_id = $13 and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
      offset 0) e
    offset 0) g
  where affected_bps >= $14::bigint and (select n from of_scope) <= 20000 and (select n from of_scope) < (select n from of_rate)),
page as materialized (
  select *
  from ((select * from gathered)
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $15 and true and (select n from of_rate) > 20000 and (select n from of_scope) > 20000 and facet + 0 = any(array(
          select id
          from "facets")) and affected_bps >= $16::bigint
        order by start_at asc, event_id asc
        limit 100) s)) p
  order by start_at asc, event_id asc
  offset $17
  limit $18)
select case when (select n from of_rate) > 20000 and (select n from of_scope) > 20000 then (
  select count(*)
  from (
    select start_at, event_id
    from team_events
    where team_id = $19 and (select n from of_rate) > 20000 and (select n from of_scope) > 20000 and facet + 0 = any(array(
      select id
      from "facets")) and affected_bps >= $20::bigint) l) else (
  select count(*)
  from gathered) end as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $21 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by rate, not ended
with
gathered as materialized (
  select affected_bps, event_id
  from team_events
  where team_id = $1 and span = 99 and span = 99),
page as materialized (
  select *
  from gathered
  order by affected_bps desc, event_id asc
  offset $2
  limit $3)
select (
  select count(*)
  from gathered) as count, coalesce((
    select string_agg(e.element, ',' order by affected_bps desc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $4 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by start, ended
with
not_ended as materialized (
  select count(*) as n
  from team_events
  where team_id = $1 and span = 99),
total as materialized (
  select ((
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $2 and facet = 0 and measure = 'all') - (select n from not_ended)) as n),
page as materialized (
  select *
  from ( (
      select *
      from (
        select *
        from (
          select start_at, event_id
          from team_events
          where team_id = $3 and end_at is not null) g
        where (select n from total) <= 20000
        limit 20001) g
      order by start_at asc, event_id asc
      offset $4
      limit $5)
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $6 and end_at is not null and (select n from total) > 20000
        order by start_at asc, event_id asc
        limit 100) s
      order by start_at asc, event_id asc
      offset $7
      limit $8) ) p
  order by start_at asc, event_id asc
  limit $9)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $10 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by search
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and (coalesce(strpos(description, $2) > 0, false) or classification_key = any($3::text[]) or strpos(lower(source_key), $4) > 0)),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $5 and facet = f.id and measure = 'all'
      offset 0) c) as n), "other_facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($6::integer[]) and not coalesce((coalesce(strpos(description, $7) > 0, false) or classification_key = any($8::text[]) or strpos(lower(source_key), $9) > 0), false)), "open_facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($10::integer[]) and not coalesce((coalesce(strpos(description, $11) > 0, false) or classification_key = any($12::text[]) or strpos(lower(source_key), $13) > 0), false) and (description is null or strpos(description, $14) > 0 and exists (
    select
    from unnest($15::text[], $16::text[]) as around(before, after)
    where right(split_part(description, $17, 1), length(before)) = before and left(split_part(description, $18, 2), length(after)) = after))),
rest as materialized (
  select start_at, event_id
  from team_events
  where team_id = $19 and exists (
    select
    from "open_facets") and strpos(description, $20) > 0 and facet + 0 = any(array(
    select id
    from "open_facets"))),
page as materialized (
  select *
  from ( (
      select *
      from (
        select *
        from (
          select e.*
          from facets f
          cross join lateral (
            select start_at, event_id
            from team_events
            where team_id = $21 and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
            offset 0) e) g
        where (select n from total) <= 20000
        limit 20001) g
      order by start_at asc, event_id asc )
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $22 and facet + 0 = any(array(
          select id
          from "facets")) and (select n from total) > 20000
        order by start_at asc, event_id asc
        limit $23::bigint + $24) s
      order by start_at asc, event_id asc )
    union all
    select *
    from rest) p
  order by start_at asc, event_id asc
  offset $25
  limit $26)
select ((select n from total) + (
    select count(*)
    from rest)) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $27 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by search for an address
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and (coalesce(strpos(description, $2) > 0, false) or classification_key = any($3::text[]) or strpos(lower(source_key), $4) > 0)),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $5 and facet = f.id and measure = 'all'
      offset 0) c) as n), "other_facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($6::integer[]) and not coalesce((coalesce(strpos(description, $7) > 0, false) or classification_key = any($8::text[]) or strpos(lower(source_key), $9) > 0), false)), "open_facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($10::integer[]) and not coalesce((coalesce(strpos(description, $11) > 0, false) or classification_key = any($12::text[]) or strpos(lower(source_key), $13) > 0), false) and (description is null or strpos(description, $14) > 0 and exists (
    select
    from unnest($15::text[], $16::text[]) as around(before, after)
    where right(split_part(description, $17, 1), length(before)) = before and left(split_part(description, $18, 2), length(after)) = after))),
rest as materialized (
  select start_at, event_id
  from team_events
  where team_id = $19 and exists (
    select
    from "open_facets") and strpos(description, $20) > 0 and facet + 0 = any(array(
    select id
    from "open_facets")) union
  select start_at, event_id
  from team_events
  where team_id = $21 and exists (
    select
    from "other_facets") and (affected_network >= $22::cidr and affected_network <= host(broadcast($23::inet))::cidr) and facet + 0 = any(array(
    select id
    from "other_facets")) union
  select start_at, event_id
  from team_events
  where team_id = $24 and exists (
    select
    from "other_facets") and affected_network = any($25::cidr[]) and facet + 0 = any(array(
    select id
    from "other_facets"))),
page as materialized (
  select *
  from ( (
      select *
      from (
        select *
        from (
          select e.*
          from facets f
          cross join lateral (
            select start_at, event_id
            from team_events
            where team_id = $26 and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
            offset 0) e) g
        where (select n from total) <= 20000
        limit 20001) g
      order by start_at asc, event_id asc )
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $27 and facet + 0 = any(array(
          select id
          from "facets")) and (select n from total) > 20000
        order by start_at asc, event_id asc
        limit $28::bigint + $29) s
      order by start_at asc, event_id asc )
    union all
    select *
    from rest) p
  order by start_at asc, event_id asc
  offset $30
  limit $31)
select ((select n from total) + (
    select count(*)
    from rest)) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $32 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by network
with
gathered as materialized (
  select start_at, event_id
  from team_events
  where team_id = $1 and (affected_network >= $2::cidr and affected_network <= host(broadcast($3::inet))::cidr)
  union all
  select start_at, event_id
  from team_events
  where team_id = $4 and affected_network = any($5::cidr[])),
page as materialized (
  select *
  from gathered
  order by start_at asc, event_id asc
  offset $6
  limit $7)
select (
  select count(*)
  from gathered) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $8 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by description
with "facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($1::integer[]) and coalesce(strpos(description, $2) > 0, false)),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from facets f
    cross join lateral (
      select bucket, events
      from team_event_counts
      where team_id = $3 and facet = f.id and measure = 'all'
      offset 0) c) as n), "open_facets" as materialized (
  select id
  from team_event_facets
  where team_id = any($4::integer[]) and not coalesce(coalesce(strpos(description, $5) > 0, false), false) and (description is null or strpos(description, $6) > 0 and exists (
    select
    from unnest($7::text[], $8::text[]) as around(before, after)
    where right(split_part(description, $9, 1), length(before)) = before and left(split_part(description, $10, 2), length(after)) = after))),
rest as materialized (
  select start_at, event_id
  from team_events
  where team_id = $11 and exists (
    select
    from "open_facets") and strpos(description, $12) > 0 and facet + 0 = any(array(
    select id
    from "open_facets"))),
page as materialized (
  select *
  from ( (
      select *
      from (
        select *
        from (
          select e.*
          from facets f
          cross join lateral (
            select start_at, event_id
            from team_events
            where team_id = $13 and (facet, start_at) >= (f.id, '-infinity') and (facet, start_at) <= (f.id, 'infinity')
            offset 0) e) g
        where (select n from total) <= 20000
        limit 20001) g
      order by start_at asc, event_id asc )
    union all (
      select *
      from (
        select start_at, event_id
        from team_events
        where team_id = $14 and facet + 0 = any(array(
          select id
          from "facets")) and (select n from total) > 20000
        order by start_at asc, event_id asc
        limit $15::bigint + $16) s
      order by start_at asc, event_id asc )
    union all
    select *
    from rest) p
  order by start_at asc, event_id asc
  offset $17
  limit $18)
select ((select n from total) + (
    select count(*)
    from rest)) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $19 and t.event_id = page.event_id
      offset 0) e), '') as results;

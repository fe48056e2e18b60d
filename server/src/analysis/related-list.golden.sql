-- The statements of the related list, written by related-page.test.ts and never run from here.
-- $1, $2, ... are parameters; why they are what they are is in related-page.store.ts.

-- first page without a filter
select (
  select coalesce(sum(events), 0)::bigint
  from team_event_counts
  where team_id = $1 and measure = 'all') as count, coalesce((
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
    where team_id = $1 and measure = 'all') as n),
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
    where team_id = $1 and measure = 'all') as n),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, ($2::bigint + 0) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $3 and measure = $4
      group by bucket) c) c
  where upto > ($5::bigint + 0) and upto - events < ($6::bigint + 0) + $7),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $8 and measure = $9 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks)
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
with
team_flags as materialized (
  select flags
  from team_event_counts
  where team_id = $1 and measure = 'all' and events > 0 and flags & $2::integer <> 0),
total as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from team_event_counts
    where team_id = $3 and measure = 'all' and flags & $4::integer <> 0) as n),
page as materialized (
  select *
  from (
    select e.*
    from team_flags f
    cross join lateral (
      select start_at, event_id
      from team_events
      where team_id = $5 and flags = f.flags
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

-- by start in a window
with
total as materialized (
  select (( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $1 and measure = $2 and bucket < $3::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $4 and measure = $5 and bucket >= $6::integer and bucket < $7::integer) + (
      select count(*)
      from team_events
      where team_id = $8 and start_at >= $9::timestamptz and start_at <= $10::timestamptz)) - ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $11 and measure = $12 and bucket < $13::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $14 and measure = $15 and bucket >= $16::integer and bucket < $17::integer) + (
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
with
team_flags as materialized (
  select flags
  from team_event_counts
  where team_id = $1 and measure = 'all' and events > 0 and flags & $2::integer <> 0),
total as materialized (
  select (( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $3 and measure = $4 and bucket < $5::integer and flags & $6::integer <> 0) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $7 and measure = $8 and bucket >= $9::integer and bucket < $10::integer and flags & $11::integer <> 0) + (
      select count(*)
      from team_flags f
      join team_events e on e.team_id = $12 and e.flags = f.flags and start_at >= $13::timestamptz and start_at <= $14::timestamptz)) - ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $15 and measure = $16 and bucket < $17::integer and flags & $18::integer <> 0) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $19 and measure = $20 and bucket >= $21::integer and bucket < $22::integer and flags & $23::integer <> 0) + (
      select count(*)
      from team_events
      where team_id = $24 and end_at >= $25::timestamptz and end_at < $26::timestamptz and flags & $27::integer <> 0))) as n),
running as materialized (
  select e.*
  from generate_series(0, 33) as s(span)
  cross join lateral (
    select start_at, event_id
    from team_events
    where team_id = $28 and (span, start_at) < (s.span, $29::timestamptz) and (span, start_at) >= (s.span, $30::timestamptz - make_interval(secs => power(2, s.span) * 1.001)) and end_at + interval '0' >= $31::timestamptz and flags & $32::integer <> 0
    offset 0) e
  union all
  select start_at, event_id
  from team_events
  where team_id = $33 and (span, start_at) >= (99, '-infinity') and (span, start_at) < (99, $34::timestamptz) and flags & $35::integer <> 0),
before as materialized (
  select count(*) as n
  from running),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, (greatest($36 - (select n from before), 0) + ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $37 and measure = $38 and bucket < $39::integer and flags & $40::integer <> 0) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $41 and measure = $42 and bucket >= $43::integer and bucket < $44::integer and flags & $45::integer <> 0) + (
      select count(*)
      from team_flags f
      join team_events e on e.team_id = $46 and e.flags = f.flags and start_at >= $47::timestamptz and start_at < $48::timestamptz))) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $49 and measure = $50 and flags & $51::integer <> 0
      group by bucket) c) c
  where upto > (greatest($52 - (select n from before), 0) + ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $53 and measure = $54 and bucket < $55::integer and flags & $56::integer <> 0) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $57 and measure = $58 and bucket >= $59::integer and bucket < $60::integer and flags & $61::integer <> 0) + (
      select count(*)
      from team_flags f
      join team_events e on e.team_id = $62 and e.flags = f.flags and start_at >= $63::timestamptz and start_at < $64::timestamptz))) and upto - events < (greatest($65 - (select n from before), 0) + ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $66 and measure = $67 and bucket < $68::integer and flags & $69::integer <> 0) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $70 and measure = $71 and bucket >= $72::integer and bucket < $73::integer and flags & $74::integer <> 0) + (
      select count(*)
      from team_flags f
      join team_events e on e.team_id = $75 and e.flags = f.flags and start_at >= $76::timestamptz and start_at < $77::timestamptz))) + $78),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket asc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $79 and measure = $80 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks) and flags & $81::integer <> 0
      group by bucket) c) c
  where upto > (select skip from found_blocks) and upto - events < (select skip from found_blocks) + $82),
place as materialized (
  select low, high, case when low <= $83::timestamptz then greatest($84 - (select n from before), 0) else skip end as skip
  from (
    select to_timestamp(first * 86400.0) as low, to_timestamp((last + 1) * 86400.0) as high, skip
    from found) f),
page as materialized (
  select *
  from ( (
      select *
      from running
      order by start_at asc, event_id asc
      offset $85
      limit $86)
    union all (
      select *
      from (
        select e.*
        from team_flags f
        cross join lateral (
          select start_at, event_id
          from team_events
          where team_id = $87 and flags = f.flags and start_at >= $88::timestamptz and start_at <= $89::timestamptz and start_at >= (select low from place) and start_at < (select high from place)
          order by start_at asc, event_id asc
          limit (select skip from place) + $90) e) s
      order by start_at asc, event_id asc
      offset (select skip from place)
      limit $91)) p
  order by start_at asc, event_id asc
  limit $92)
select (select n from total) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $93 and t.event_id = page.event_id
      offset 0) e), '') as results;

-- by end
with
ended as materialized (
  select (
    select coalesce(sum(events), 0)::bigint
    from team_event_counts
    where team_id = $1 and measure = 'end_block' and bucket < 2147483647 / 64) as n),
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
  where team_id = $13 and measure = 'all') as count, coalesce((
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
    where team_id = $1 and measure = 'end_block' and bucket < 2147483647 / 64) as n),
found_blocks as materialized (
  select min(bucket) as first, max(bucket) as last, $2::bigint - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket desc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $3 and measure = $4 and bucket < 2147483647 / 64
      group by bucket) c) c
  where upto > $5::bigint and upto - events < $6::bigint + $7),
found as materialized (
  select min(bucket) as first, max(bucket) as last, (select skip from found_blocks) - min(upto - events) as skip
  from (
    select bucket, events, sum(events) over (order by bucket desc)::bigint as upto
    from (
      select bucket, coalesce(sum(events), 0)::bigint as events
      from team_event_counts
      where team_id = $8 and measure = $9 and bucket >= (select first * 64 from found_blocks) and bucket <= (select last * 64 + 63 from found_blocks)
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
  where team_id = $22 and measure = 'all') as count, coalesce((
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
      where team_id = $2 and measure = $3
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
  where team_id = $10 and measure = 'all') as count, coalesce((
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
      where team_id = $1 and measure = $2 and bucket < $3::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $4 and measure = $5 and bucket >= $6::integer and bucket < $7::integer) + (
      select count(*)
      from team_events
      where team_id = $8 and start_at >= $9::timestamptz and start_at <= $10::timestamptz)) - ( (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $11 and measure = $12 and bucket < $13::integer) + (
      select coalesce(sum(events), 0)::bigint
      from team_event_counts
      where team_id = $14 and measure = $15 and bucket >= $16::integer and bucket < $17::integer) + (
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
      limit $36)) p
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

-- by network
with
gathered as materialized (
  select start_at, event_id
  from team_events
  where team_id = $1 and affected_network >= $2::cidr and affected_network <= host(broadcast($3::inet))::cidr
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
with
gathered as materialized (
  select start_at, event_id
  from team_events
  where team_id = $1 and strpos(description, $2) > 0),
page as materialized (
  select *
  from gathered
  order by start_at asc, event_id asc
  offset $3
  limit $4)
select (
  select count(*)
  from gathered) as count, coalesce((
    select string_agg(e.element, ',' order by start_at asc, event_id asc)
    from page
    cross join lateral (
      select record || ',"relationships":' || relationships || '}' as element
      from team_events t
      where t.team_id = $5 and t.event_id = page.event_id
      offset 0) e), '') as results;

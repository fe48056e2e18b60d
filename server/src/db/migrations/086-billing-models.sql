-- phase: expand
-- runs with: 0.2.0-rc.1
-- Models of billing that carriers sell: other percentiles, the greater direction of each bucket, included bytes, pools with a commit of
-- each port, billing days, and prices. Former terms have them too.

alter table services
  add column billing_commit_scope text not null default 'service',
  add column billing_day integer not null default 1,
  add column billing_included_octets bigint,
  add column billing_prices jsonb;
alter table services
  drop constraint services_billing_method_check,
  add constraint services_billing_method_check check (billing_method in ('p90', 'p95', 'p98', 'average', 'flat', 'volume')) not valid,
  drop constraint services_billing_direction_check,
  add constraint services_billing_direction_check check (billing_direction in ('in', 'out', 'max', 'max_sample', 'sum')) not valid,
  add constraint services_billing_commit_scope_check check (billing_commit_scope in ('port', 'service')) not valid,
  add constraint services_billing_day_check check (billing_day between 1 and 28) not valid,
  add constraint services_billing_included_octets_check check (billing_included_octets >= 0) not valid;
alter table services validate constraint services_billing_method_check;
alter table services validate constraint services_billing_direction_check;
alter table services validate constraint services_billing_commit_scope_check;
alter table services validate constraint services_billing_day_check;
alter table services validate constraint services_billing_included_octets_check;
comment on column services.billing_method is
  'p90, p95, p98: percentiles of buckets of 5 minutes; average of them; volume: octets; flat: not by traffic';
comment on column services.billing_direction is
  'as the customer sees it; max: the greater of both figures; max_sample: of the greater direction of each bucket; sum: of both added per bucket';
comment on column services.billing_commit_scope is 'of the commit and the included octets; port: of each, added for a bill; service: of all ports together';
comment on column services.billing_day is 'day of the calendar month on which a month begins';
comment on column services.billing_included_octets is 'of a month, for volume';
comment on column services.billing_prices is 'as the API returns it; null: bills have no prices';

alter table former_service_terms
  add column commit_scope text not null default 'service',
  add column day integer not null default 1,
  add column included_octets bigint,
  add column prices jsonb;

alter table billing_periods add column ends timestamptz;
comment on column billing_periods.ends is 'end of the month; null: that of the calendar month in its time zone';

create or replace function billed_until(service integer) returns timestamptz language sql stable as $$
  select max(coalesce(b.ends, ((b.month || '-01')::timestamp + interval '1 month') at time zone b.timezone))
  from billing_periods b where b.service_id = service
$$;

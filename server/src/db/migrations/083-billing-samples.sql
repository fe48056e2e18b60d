-- phase: expand
-- runs with: 0.2.0-rc.1
-- The files of samples of closed bills, and corrections: bills that name the one that they correct.

create table billing_samples (
  team_id integer not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  gzip bytea not null,
  primary key (team_id, sha256)
);
alter table billing_samples alter column gzip set storage external;
comment on table billing_samples is 'files of the samples of closed bills: without foreign keys, so that they outlive services and ports';
comment on column billing_samples.sha256 is 'of the file, as bills name it';
create trigger billing_samples_immutable before update or delete on billing_samples
  for each row execute function refuse_bill_change();
alter table billing_samples enable row level security;
create policy tenant on billing_samples to pharos_tenant using (team_id = current_team_id());
grant select on billing_samples to pharos_tenant;

alter table billing_periods
  add column corrects integer references billing_periods,
  add column reason text;
alter table billing_periods add constraint billing_periods_reason check ((corrects is null) = (reason is null)) not valid;
alter table billing_periods validate constraint billing_periods_reason;
create unique index billing_periods_corrects on billing_periods (corrects) where corrects is not null;
comment on column billing_periods.corrects is 'the bill that this one replaces';
comment on column billing_periods.reason is 'why it was corrected';

-- Domains that teams have proved, or are about to: a TXT record that only this team is told of stands below the domain.

create table domains (
  id integer generated always as identity primary key,
  team_id integer not null references teams on delete cascade,
  domain text not null check (domain = lower(domain)),
  auto_join boolean not null default false,
  created timestamptz not null default now(),
  verified timestamptz,
  pending_since timestamptz not null default now(),
  last_check timestamptz,
  last_check_result text check (last_check_result in ('valid', 'missing', 'mismatch', 'unavailable', 'claimed')),
  missed integer not null default 0 check (missed between 0 and 2),
  due timestamptz default now(),
  leased_until timestamptz,
  unique (team_id, domain)
);
comment on column domains.domain is 'lower case, A-labels, no dot at the end';
comment on column domains.auto_join is 'who confirms an address in it becomes a member, while it is verified';
comment on column domains.verified is 'since when the record is known to stand there; null where it is not, or no longer';
comment on column domains.pending_since is 'since when the record is awaited: the longer, the less often it is looked for';
comment on column domains.missed is 'daily checks in a row that did not find the record; the third ends the verification';
comment on column domains.due is 'when it is checked next; null where it was given up';
comment on column domains.leased_until is 'a check is going on: nobody else begins one before';

-- Any number of teams may wait for a domain; one has it. Also where the teams of an address are looked for.
create unique index domains_verified on domains (domain) where verified is not null;
create index domains_due on domains (due) where due is not null;

-- Whether another team has it: yes or no, and never who. Asked only once the asking team has proved it too.
create function domain_is_claimed(team integer, wanted text) returns boolean
  language sql stable security definer set search_path = public
  as $$ select exists (select from domains d where d.domain = wanted and d.verified is not null and d.team_id <> team) $$;
revoke execute on function domain_is_claimed from public;
grant execute on function domain_is_claimed to pharos_tenant;

alter table domains enable row level security;
create policy tenant on domains to pharos_tenant using (team_id = current_team_id());
grant select, delete on domains to pharos_tenant;
grant insert (team_id, domain, auto_join, created, pending_since, due) on domains to pharos_tenant;
grant update (auto_join, verified, pending_since, last_check, last_check_result, missed, due) on domains to pharos_tenant;

-- What was last seen of each paperless proof that a team controls a prefix. Whether it is enough is the operator's policy, and
-- stands in the check `loa` of the announcement.
create table announcement_proofs (
  announcement_id integer not null references announcements on delete cascade,
  kind text not null check (kind in ('dns_txt', 'rdap')),
  team_id integer not null references teams on delete cascade,
  state text not null check (state in ('valid', 'missing', 'invalid', 'unavailable')),
  note text not null,
  evidence jsonb not null default '{}',
  fix text,
  checked timestamptz,
  since timestamptz not null default now(),
  next_check timestamptz not null,
  primary key (announcement_id, kind)
) with (fillfactor = 70);
comment on column announcement_proofs.checked is 'when the name servers or the registry last answered; what they said then stands while they are silent';
comment on column announcement_proofs.since is 'when the state began';
comment on column announcement_proofs.next_check is 'when they are asked again';

alter table announcement_proofs enable row level security;
create policy tenant on announcement_proofs to pharos_tenant using (team_id = current_team_id());

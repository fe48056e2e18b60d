-- Restores: times at which the database went back, and what then differs from the network until staff have decided.

create table restores (
  id integer generated always as identity primary key,
  detected timestamptz not null default now(),
  reason text not null check (reason in ('head_missing', 'other_database', 'by_hand')),
  evidence jsonb not null,
  sessions_ended integer not null default 0,
  closed timestamptz,
  closed_by text
);
create unique index restores_open on restores ((true)) where closed is null;
create index restores_closed on restores (closed);
comment on table restores is 'while one is not closed, nothing is sent';
comment on column restores.evidence is 'known_head and found_head of the audit log, and the identity of the database before and after';

create table restore_sources (
  restore_id integer not null references restores on delete cascade,
  area text not null,
  name text not null,
  compared timestamptz,
  problem text,
  primary key (restore_id, area, name)
);
comment on table restore_sources is 'the regions, scrubbers and name servers that were compared with the restored database';
comment on column restore_sources.problem is 'why the last comparison failed; null if it did not';

create table restore_items (
  id bigint generated always as identity primary key,
  restore_id integer not null references restores on delete cascade,
  area text not null check (area in ('routes', 'blackholes', 'shield', 'zones', 'mails', 'deliveries')),
  source text not null,
  subject text not null,
  kind text not null check (kind in ('add', 'remove', 'change', 'queued')),
  team_id integer references teams on delete set null,
  database jsonb,
  network jsonb,
  adoptable boolean not null,
  decision text check (decision in ('apply', 'adopt', 'discard', 'send')),
  decided timestamptz,
  decided_by text,
  applied timestamptz,
  unique (restore_id, area, source, subject)
);
comment on table restore_items is 'differences between a restored database and the network';
comment on column restore_items.source is 'name of the region, scrubber or name server; empty for queues';
comment on column restore_items.adoptable is 'whether the database can take over what the network has';

alter table restores enable row level security;
alter table restore_sources enable row level security;
alter table restore_items enable row level security;

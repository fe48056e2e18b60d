-- Proof of an ASN: a team shows by itself that it holds one, for a time, and what was seen of each way to show it.

alter table asns
  add column verified_by text check (verified_by in ('rdap_email', 'peeringdb', 'aut_num', 'dns_txt', 'roa')),
  add column expires timestamptz,
  add constraint asns_proof check ((verified_by is null) = (expires is null) and (verified_by is null or verified is not null));
create index asns_verified on asns (asn) where verified is not null;
create index asns_expires on asns (expires) where expires is not null;
comment on column asns.verified is 'since when the team is known to hold it; null where it is not, or no longer';
comment on column asns.verified_by is 'the method by which the team proved it; null where the operator''s file says so';
comment on column asns.expires is 'when the proof ends unless it is seen again; null for the operator''s word, which does not end';

-- What was last seen of each method that a team tried. It says nothing about who holds the ASN: that is in asns.
create table asn_proofs (
  team_id integer not null references teams on delete cascade,
  asn bigint not null check (asn between 1 and 4294967295),
  method text not null check (method in ('rdap_email', 'peeringdb', 'aut_num', 'dns_txt', 'roa')),
  state text not null check (state in ('valid', 'pending', 'missing', 'unavailable', 'error')),
  evidence jsonb not null default '{}',
  note text not null,
  missing_since timestamptz,
  checked timestamptz not null,
  primary key (team_id, asn, method)
) with (fillfactor = 70);
comment on column asn_proofs.evidence is 'JSON object: what was read, and where';
comment on column asn_proofs.missing_since is 'since when no check has found what was valid before; null where it is there or never was';

-- Whether another team is known to hold the ASN: yes or no, and never who.
create function asn_is_held(team integer, wanted bigint) returns boolean
  language sql stable security definer set search_path = public
  as $$ select exists (select from asns a
    where a.asn = wanted and a.team_id <> team and a.verified is not null and (a.expires is null or a.expires > now())) $$;
revoke execute on function asn_is_held from public;
grant execute on function asn_is_held to pharos_tenant;

alter table asn_proofs enable row level security;
create policy tenant on asn_proofs to pharos_tenant using (team_id = current_team_id());
grant select, insert, update on asn_proofs to pharos_tenant;
grant insert (team_id, asn, verified, verified_by, expires) on asns to pharos_tenant;
grant update (verified, verified_by, expires) on asns to pharos_tenant;

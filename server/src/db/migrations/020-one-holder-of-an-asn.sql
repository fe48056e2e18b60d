-- At most one team is verified for an ASN. The operator can revoke a verification, and control of address space (a ROA, a
-- record in a reverse zone) no longer verifies an ASN.

alter table asns
  add column revoked timestamptz,
  add column revoked_reason text;
comment on column asns.revoked is 'when the operator revoked the verification; proofs of the team do not count until the operator verifies it again';

-- Whoever was verified by control of address space, and all but one of the teams that are verified for the same ASN: the
-- operator's word is kept before a proof, what is current before what has expired, and the older before the newer.
with ranked as (
  select id, row_number() over (partition by asn
    order by coalesce(verified_by in ('dns_txt', 'roa'), false), coalesce(expires <= now(), false), verified_by is not null, verified, id) as place
  from asns where verified is not null),
ended as (
  select a.* from asns a join ranked r on r.id = a.id where r.place > 1 or a.verified_by in ('dns_txt', 'roa')),
audited as (
  insert into audit_entries (team_id, actor, action, target, before, after)
  select team_id, 'pharos', 'asn.expire', 'asn:' || asn,
    jsonb_build_object('verified', verified, 'verifiedBy', coalesce(verified_by, 'operator'), 'expires', expires),
    jsonb_build_object('verified', null, 'reason', case when verified_by in ('dns_txt', 'roa')
      then 'control of address space does not verify an ASN' else 'another team is verified for the ASN' end)
  from ended order by id)
update asns a set verified = null, verified_by = null, expires = null from ended where a.id = ended.id;

drop index asns_verified;
create unique index asns_one_holder on asns (asn) where verified is not null;
alter table asns
  add constraint asns_proof_of_asn check (verified_by not in ('dns_txt', 'roa')),
  add constraint asns_revoked check ((revoked is null) = (revoked_reason is null) and (revoked is null or verified is null));

-- A proof of another team that has expired, and that the daily check has not ended yet, must not keep the holder out.
create function end_expired_asn(wanted bigint) returns void
  language sql security definer set search_path = public, pg_temp
  as $$
    with ended as (
      select id, team_id, asn, verified, verified_by, expires from asns
      where asn = wanted and verified is not null and expires <= now()),
    audited as (
      insert into audit_entries (team_id, actor, action, target, before, after)
      select team_id, 'pharos', 'asn.expire', 'asn:' || asn,
        jsonb_build_object('verified', verified, 'verifiedBy', verified_by, 'expires', expires),
        jsonb_build_object('verified', null, 'verifiedBy', null, 'expires', null)
      from ended)
    update asns a set verified = null, verified_by = null, expires = null from ended where a.id = ended.id
  $$;
revoke execute on function end_expired_asn from public;
grant execute on function end_expired_asn to pharos_tenant;

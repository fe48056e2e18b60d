-- BYOIP, complete: announcements that teams create themselves, why each check says what it says, who holds a prefix
-- against whom, what happened to it, and deletion that can be undone.

-- A claim alone must not keep the holder of a prefix out, so two teams may name the same one until it is validated. From
-- the moment at which every check of an announcement has passed it holds its prefix: `claimed`. Only what is claimed can
-- be enabled, so a router never has to choose between two rows.
alter table announcements
  add column as_set text,
  add column delegate_loa boolean not null default false,
  add column loa_signatory text not null default '',
  add column managed_by text not null default 'operator' check (managed_by in ('operator', 'team')),
  add column vouched text[] not null default '{}' check (vouched <@ array['irr', 'rpki', 'loa']),
  add column clearance text not null default 'pending' check (clearance in ('pending', 'running', 'failed', 'passed')),
  add column claimed timestamptz,
  add column check_requested timestamptz,
  add column suspended_reason text,
  add column deleted timestamptz;
comment on column announcements.as_set is 'AS-SET whose members may originate the prefix in the IRR';
comment on column announcements.managed_by is 'who made it: the operator''s file, which may prune it, or the team';
comment on column announcements.vouched is 'checks that the operator''s file says have passed, whatever the registries say';
comment on column announcements.clearance is 'how far the checks are; passed while irr, rpki and loa are all valid';
comment on column announcements.claimed is 'when every check had passed for the first time: since then it holds the prefix';
comment on column announcements.check_requested is 'somebody asked for all checks at once; null when that was done';
comment on column announcements.suspended_reason is 'what the operator tells the team; `validation` where the policy did it';
comment on column announcements.deleted is 'deleted by its team; for seven days it can be restored';

update announcements set
  claimed = case when irr_validated is not null and rpki_validated is not null and loa_validated is not null or enabled
    then created end,
  clearance = case when irr_validated is not null and rpki_validated is not null and loa_validated is not null
    then 'passed' else 'pending' end,
  vouched = array_remove(array[case when irr_validated is not null then 'irr' end,
    case when rpki_validated is not null then 'rpki' end, case when loa_validated is not null then 'loa' end], null);

alter table announcements drop constraint announcements_prefix_key;
create unique index announcements_claim on announcements (prefix) where claimed is not null and deleted is null;
create unique index announcements_of_team on announcements (team_id, prefix) where deleted is null;
create unique index announcements_of_operator on announcements (prefix)
  where managed_by = 'operator' and deleted is null;
create index announcements_covering on announcements using gist (prefix inet_ops) where deleted is null;
create index announcements_requested on announcements (id) where check_requested is not null;
create index announcements_deleted on announcements (deleted) where deleted is not null;
create index prefixes_covering on prefixes using gist (prefix inet_ops);
alter table announcements add constraint announcements_enabled_claimed check (not enabled or claimed is not null);
alter table announcements add constraint announcements_deleted_disabled check (deleted is null or not enabled);

-- Who makes an announcement with passed checks vouches for them: the operator, since teams may not write these columns.
create function vouch_for_announcement() returns trigger language plpgsql as $$
begin
  new.vouched := array_remove(array[case when new.irr_validated is not null then 'irr' end,
    case when new.rpki_validated is not null then 'rpki' end, case when new.loa_validated is not null then 'loa' end], null);
  if cardinality(new.vouched) = 3 then
    new.clearance := 'passed';
    new.claimed := coalesce(new.claimed, now());
  end if;
  return new;
end $$;
create trigger announcements_vouched before insert on announcements
  for each row execute function vouch_for_announcement();

-- Whether another team holds the prefix or one that covers it: yes or no, and never who.
create function prefix_is_claimed(team integer, wanted cidr) returns boolean
  language sql stable security definer set search_path = public
  as $$ select exists (select from announcements a
      where a.prefix >>= wanted and a.team_id <> team and a.claimed is not null and a.deleted is null)
    or exists (select from prefixes p where p.prefix >>= wanted and p.team_id <> team) $$;
revoke execute on function prefix_is_claimed from public;
grant execute on function prefix_is_claimed to pharos_tenant;

-- One row for each check of an announcement. Absent until it was judged for the first time.
create table announcement_validations (
  announcement_id integer not null references announcements on delete cascade,
  name text not null check (name in ('irr', 'rpki', 'loa', 'asn', 'size', 'overlap')),
  team_id integer not null references teams on delete cascade,
  state text not null check (state in (
    'valid', 'pending', 'missing', 'invalid', 'mismatch_asn', 'mismatch_length', 'expired', 'unavailable')),
  note text not null,
  evidence jsonb not null default '{}',
  fix text,
  checked timestamptz,
  since timestamptz not null default now(),
  next_check timestamptz,
  primary key (announcement_id, name)
) with (fillfactor = 70);
create index announcement_validations_due on announcement_validations (next_check) where next_check is not null;
comment on column announcement_validations.fix is 'the literal text of what to create; null where there is nothing to do';
comment on column announcement_validations.checked is 'when its registry was last asked and answered';
comment on column announcement_validations.since is 'when the state began';
comment on column announcement_validations.next_check is 'when the registry is asked again; null for what follows from other rows';

-- What happened to an announcement, for its team to read. The audit says who did it; here it also says what was seen.
create table announcement_history (
  id bigint generated always as identity primary key,
  announcement_id integer not null references announcements on delete cascade,
  team_id integer not null references teams on delete cascade,
  at timestamptz not null default now(),
  kind text not null,
  region_id integer references regions on delete set null,
  actor text not null,
  detail jsonb not null default '{}',
  took_ms integer
);
create index announcement_history_announcement on announcement_history (announcement_id, id);
comment on column announcement_history.took_ms is 'from the request to what was seen on the router';

-- Only what is claimed and not deleted counts as the team's: a claim would show it the attacks on somebody else's network.
drop trigger announcements_ownership on announcements;
create trigger announcements_ownership
  after insert or delete or update of team_id, prefix, origin_asn, description, claimed, deleted on announcements
  for each statement execute function raise_revision('ownership');
drop trigger announcements_changed on announcements;
create trigger announcements_changed
  before update of team_id, prefix, origin_asn, description, claimed, deleted on announcements
  for each row execute function resource_changed();
create trigger announcements_soft_removed after update of deleted on announcements
  for each row when (new.deleted is not null and old.deleted is null)
  execute function resource_removed('announcement');

alter table announcement_validations enable row level security;
alter table announcement_history enable row level security;
create policy tenant on announcement_validations to pharos_tenant using (team_id = current_team_id());
create policy tenant on announcement_history to pharos_tenant using (team_id = current_team_id());
grant select, insert, update, delete on announcement_validations to pharos_tenant;
grant select, insert on announcement_history to pharos_tenant;
grant insert (team_id, prefix, origin_asn, description, as_set, delegate_loa, loa_signatory, managed_by, status, clearance)
  on announcements to pharos_tenant;
grant update (deleted, check_requested) on announcements to pharos_tenant;
